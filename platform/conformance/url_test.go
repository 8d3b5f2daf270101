package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestURLFieldsHaveTheRule checks that every address that a request sets must be an https or http address.
func TestURLFieldsHaveTheRule(t *testing.T) {
	t.Parallel()
	var checked []string
	for _, f := range requestTexts() {
		if name := string(f.field.Name()); name != "url" && !strings.HasSuffix(name, "_url") {
			continue
		}
		if f.name == "WebhookService.ReplaceManagedWebhooks webhooks.url" ||
			f.name == "PrehookService.ReplaceManagedPrehook prehook.callback_url" {
			continue // the answer says what is refused, and why
		}
		rules, _ := proto.GetExtension(f.field.Options(), validate.E_Field).(*validate.FieldRules)
		require.True(t, proto.GetExtension(rules.GetString(), plazav1.E_WebUrl).(bool), f.name)
		checked = append(checked, f.name)
	}
	require.True(t, slices.Contains(checked, "UserService.UpdateUser avatar_custom_url"))
}

// TestURLs checks which addresses users can set.
func TestURLs(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	for address, valid := range map[string]bool{
		"https://example.com/a.png?b=c#d": true, "http://example.com": true, "HTTPS://EXAMPLE.com:8443/x": true, "": true,
		"https://exämple.com/ö": true,
		"javascript:alert(1)":   false, "JavaScript:alert(1)": false, "data:text/html,x": false, "file:///etc/passwd": false, "vbscript:x": false,
		"//example.com/x": false, "/x": false, "example.com": false, "https://": false, "https:///x": false, "ftp://example.com/x": false,
		"https://user@example.com/": false, " https://example.com": false, "https://example.com/ x": false, "https://example.com/\nx": false,
		"blob:https://example.com/x": false, "https:\\\\example.com": false, "https://evil.com\\@example.com": false,
	} {
		r := alice.Do(t, http.MethodPut, "/api/v3/users", object{"avatarCustomUrl": address})
		if valid {
			require.Equal(t, address, r.OK(t).String(t, "users.0.avatarCustomUrl"), address)
			continue
		}
		requireFailure(t, invalid("avatarCustomUrl"), r)
	}
	story := func(address string) *apptest.Response {
		return alice.Do(t, http.MethodPost, "/api/v4/stories", object{
			"targetType": "user", "targetId": alice.UserID, "dataType": "image", "data": object{"fileId": alice.Network.File(t, "image", 0)},
			"items": []object{{"type": "hyperlink", "data": object{"url": address}, "placement": object{}}},
		})
	}
	require.Equal(t, http.StatusUnprocessableEntity, story("javascript:alert(1)").Status)
}
