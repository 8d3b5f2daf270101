//go:build install

package install

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// right is a verb on a resource, such as "patch plaza.social socialnetworks/status".
type right string

// rightsOf returns the permissions of the operator's role in the installed manifests.
func (c *cluster) rightsOf(manifests, kind string) map[right]bool {
	c.t.Helper()
	return c.rightsOfRole(manifests, kind, account)
}

// rightsOfRole returns the permissions of a role in the installed manifests.
func (c *cluster) rightsOfRole(manifests, kind, name string) map[right]bool {
	c.t.Helper()
	for part := range strings.SplitSeq(manifests, "\n---\n") {
		var role rbacv1.ClusterRole
		require.NoError(c.t, yaml.Unmarshal([]byte(part), &role))
		if role.Kind != kind || role.Name != name {
			continue
		}
		rights := map[right]bool{}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						rights[right(verb+" "+group+" "+resource)] = true
					}
				}
			}
		}
		return rights
	}
	c.t.Fatalf("there is no %s %s", kind, name)
	return nil
}

// auditEvent is a line of the audit log.
type auditEvent struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	ObjectRef  *struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"responseStatus"`
}

// requests returns all requests of the operator so far.
func (c *cluster) requests() []auditEvent {
	c.t.Helper()
	text, err := os.ReadFile(c.auditLog())
	require.NoError(c.t, err)
	var events []auditEvent
	for line := range bytes.Lines(text) {
		var e auditEvent
		if json.Unmarshal(line, &e) != nil {
			break // an incomplete line
		}
		events = append(events, e)
	}
	return events
}

// usedRights returns the permissions that the requests needed, outside of the operator's own namespace. None may have
// been denied.
func (c *cluster) usedRights() map[right]bool {
	c.t.Helper()
	used := map[right]bool{}
	for _, e := range c.requests() {
		require.NotEqual(c.t, 403, e.ResponseStatus.Code, "%s %s: %s", e.Verb, e.RequestURI, e.ResponseStatus.Message)
		if e.ObjectRef == nil || e.ObjectRef.Resource == "" || e.ObjectRef.Namespace == system {
			continue
		}
		resource := e.ObjectRef.Resource
		if e.ObjectRef.Subresource != "" {
			resource += "/" + e.ObjectRef.Subresource
		}
		on := " " + e.ObjectRef.APIGroup + " " + resource
		used[right(e.Verb+on)] = true
		if e.Verb == "watch" { // it starts with a list, which API servers before 1.34 log as a separate request
			used[right("list"+on)] = true
		}
		if e.Verb == "patch" && e.ResponseStatus.Code == 201 { // an apply that created the object
			used[right("create"+on)] = true
		}
	}
	return used
}

// rare are permissions that the scenario does not use.
var rare = map[right]string{
	"update plaza.social socialnetworks/finalizers": "checked within another request by an admission plugin that the test enables",
	"patch events.k8s.io events":                    "for an event that is repeated within minutes",
	"patch plaza.social socialnetworks":             "the finalizer of a network with regions in member clusters",
	"get batch jobs":                                "for a new Job that is not in the cache yet",
}

// comparePermissions compares the role with the requests: none was denied, and no permission is unused.
func (c *cluster) comparePermissions(given map[right]bool, rare map[right]string) {
	c.t.Helper()
	used := c.usedRights()
	var over []right
	for r := range given {
		if !used[r] && rare[r] == "" {
			over = append(over, r)
		}
	}
	slices.Sort(over)
	require.Empty(c.t, over, "rights that the operator does not use")
	for r := range rare {
		require.True(c.t, given[r], r)
	}
	for _, r := range slices.Sorted(maps.Keys(used)) {
		require.True(c.t, given[r], "%s was taken by another role", r)
	}
}
