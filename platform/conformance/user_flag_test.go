package conformance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

const myFlagsPath = "/api/v4/me/flags/"

// requireFlaggedUser checks who flags the user of an answer.
func requireFlaggedUser(t *testing.T, r *apptest.Response, flaggers ...*apptest.Client) {
	t.Helper()
	user := requireAggregate(t, r, "", userAggregate).one("users")
	requireUserFlags(t, user, flaggers...)
}

func requireUserFlags(t *testing.T, user object, flaggers ...*apptest.Client) {
	t.Helper()
	require.InDelta(t, len(flaggers), user["flagCount"], 0)
	if len(flaggers) == 0 {
		require.Nil(t, user["hashFlag"])
		return
	}
	found := user["hashFlag"].(object)
	filter := &plazav1.HashFlag{}
	for _, word := range found["hash"].([]any) {
		filter.Hash = append(filter.Hash, word.(string))
	}
	for _, c := range flaggers {
		require.True(t, view.MayContain(filter, c.InternalID))
	}
}

// requireFlaggedByMe calls both spellings of the operation.
func requireFlaggedByMe(t *testing.T, want bool, c *apptest.Client, userID string) {
	t.Helper()
	for _, name := range []string{"isFlagByMe", "isflagbyme"} {
		r := c.Do(t, http.MethodGet, "/api/v3/users/"+url.PathEscape(userID)+"/"+name, nil).OK(t)
		require.Equal(t, want, r.Bool(t, "result"), name)
		require.Equal(t, want, r.Bool(t, "isFlagByMe"), name)
	}
}

func TestUserFlags(t *testing.T) {
	t.Parallel()
	bad, a, b := newUser(t, region.EU, "bad"), newUser(t, region.US, "a"), newUser(t, region.SG, "b")
	path := myFlagsPath + bad.UserID
	requireFlaggedUser(t, a.At(region.SG).Do(t, http.MethodPost, path, object{"reason": "Spam", "detail": "d"}), a)
	requireFlaggedUser(t, a.Do(t, http.MethodPost, path, apptest.Form("")), a)
	requireFlaggedByMe(t, true, a, bad.UserID)
	requireFlaggedByMe(t, false, b, bad.UserID)
	requireFlaggedByMe(t, false, admin(t), bad.UserID)
	requireFlaggedUser(t, b.Do(t, http.MethodPost, path, nil), b)
	requireFlaggedUser(t, admin(t).Do(t, http.MethodGet, "/api/v3/users/"+bad.UserID, nil), a, b)
	requireFlaggedUser(t, bad.Do(t, http.MethodGet, "/api/v3/users/"+bad.UserID, nil))
	requireFlaggedUser(t, a.Do(t, http.MethodDelete, path, nil))
	requireFlaggedUser(t, a.Do(t, http.MethodDelete, path, nil))
	requireFlaggedUser(t, admin(t).Do(t, http.MethodGet, "/api/v3/users/"+bad.UserID, nil), b)
	requireFlaggedByMe(t, false, a, bad.UserID)

	listed := admin(t).Do(t, http.MethodGet, "/api/v3/users?filter=flagged&options[limit]=100", nil).OK(t)
	require.Contains(t, listed.Strings(t, "users", "userId"), bad.UserID)
	require.NotContains(t, listed.Strings(t, "users", "userId"), a.UserID)

	r := admin(t).Do(t, http.MethodDelete, "/api/v2/users/"+bad.UserID+"/flags", nil).OK(t)
	cleared := r.JSON(t).(object)
	requireResource(t, "user", userFields, cleared)
	require.Equal(t, bad.UserID, cleared["userId"])
	requireUserFlags(t, cleared)
	requireFlaggedUser(t, b.Do(t, http.MethodGet, "/api/v3/users/"+bad.UserID, nil))
	listed = admin(t).Do(t, http.MethodGet, "/api/v3/users?filter=flagged&options[limit]=100", nil).OK(t)
	require.NotContains(t, listed.Strings(t, "users", "userId"), bad.UserID)

	requireAttempts(t, []attempt{
		{"oneself", a, http.MethodPost, myFlagsPath + a.UserID, nil, forbidden},
		{"unknown user", a, http.MethodPost, myFlagsPath + "unknown-user", nil, notFound},
		{"unflag an unknown user", a, http.MethodDelete, myFlagsPath + "unknown-user", nil, notFound},
		{"an id of 51", a, http.MethodPost, myFlagsPath + longText(51), nil, invalid("userId")},
		{"a long reason", a, http.MethodPost, path, object{"reason": longText(301)}, invalid("reason")},
		{"a long detail", a, http.MethodPost, path, object{"detail": longText(301)}, invalid("detail")},
		{"by an administrator", admin(t), http.MethodPost, path, nil, forbidden},
		{"cleared by a user", a, http.MethodDelete, "/api/v2/users/" + bad.UserID + "/flags", nil, forbidden},
		{"cleared of an unknown user", admin(t), http.MethodDelete, "/api/v2/users/unknown-user/flags", nil, notFound},
		{"unknown user by me", a, http.MethodGet, "/api/v3/users/unknown-user/isFlagByMe", nil, notFound},
	})
}

func longText(n int) string { return strings.Repeat("x", n) }

// TestUserFlagLimit flags a user up to the network's limit.
func TestUserFlagLimit(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/network-settings", object{"flagLimit": 2}).OK(t)
	bad := n.NewUser(t, region.EU, "bad")
	path := myFlagsPath + bad.UserID
	first := n.NewUser(t, region.US, "first")
	first.At(region.EU).Do(t, http.MethodPost, path, nil).OK(t)
	n.NewUser(t, region.EU, "second").Do(t, http.MethodPost, path, nil).OK(t)
	third := n.NewUser(t, region.EU, "third")
	requireFailure(t, failure{status: 403, code: 400300, message: "Number of flag already exceed."}, third.Do(t, http.MethodPost, path, nil))
	first.At(region.EU).Do(t, http.MethodPost, path, nil).OK(t)
	first.At(region.EU).Do(t, http.MethodDelete, path, nil).OK(t)
	third.Do(t, http.MethodPost, path, nil).OK(t)
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/network-settings/moderation", object{"isReportEnabled": false}).OK(t)
	requireFailure(t, forbidden, first.At(region.EU).Do(t, http.MethodPost, path, nil))
}
