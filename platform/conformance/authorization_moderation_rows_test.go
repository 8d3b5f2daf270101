package conformance

import (
	"net/http"
	"testing"
)

// moderationListRows are the rows of the allow list and the block list.
func moderationListRows() []row {
	var rows []row
	for list, path := range map[string]string{"Allow": allowPath, "Block": blockPath} {
		add := func(*testing.T, *fixture) object { return object{"regexs": []string{"walked.example"}} }
		rule := func(more object, field string) func(*testing.T, *fixture) object {
			return func(t *testing.T, g *fixture) object {
				t.Helper()
				id := g.principals[adminToken].Do(t, http.MethodPost, path, object{"regexs": []string{"walked.example"}}).OK(t).String(t,
					"data.results.0.ruleId")
				if field == "ruleIds" {
					return object{field: []string{id}}
				}
				return with(object{field: id}, more)
			}
		}
		rows = append(rows,
			row{procedure: "ModerationListService/List" + list + "Rules", request: noFields, want: adminsOnly},
			row{procedure: "ModerationListService/Add" + list + "Rules", request: add, want: adminsOnly},
			row{procedure: "ModerationListService/Update" + list + "Rule", request: rule(object{"isEnabled": false}, "ruleId"), want: adminsOnly},
			row{procedure: "ModerationListService/Delete" + list + "Rules", request: rule(nil, "ruleIds"), want: adminsOnly},
		)
	}
	texts := func(*testing.T, *fixture) object { return object{"data": []string{"x"}} }
	return append(rows,
		row{procedure: "ModerationListService/VerifyAllowed", request: texts, want: everyone},
		row{procedure: "ModerationListService/VerifyNotBlocked", request: texts, want: everyone},
	)
}
