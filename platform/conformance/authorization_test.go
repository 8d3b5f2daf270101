package conformance

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// principal is one of the callers of every operation.
type principal string

// The principals: an anonymous caller, users by their membership in the operation's community, and an administrator.
const (
	anonymous    principal = "anonymous"
	stranger     principal = "stranger"
	member       principal = "member"
	moderator    principal = "moderator"
	bannedMember principal = "banned from the community"
	bannedUser   principal = "banned from the network"
	adminToken   principal = "admin"
)

// principals are all principals, in the order of the results.
var principals = []principal{anonymous, stranger, member, moderator, bannedMember, bannedUser, adminToken}

// resultCodes are the codes of an operation's answers by principal; 0 is success.
type resultCodes map[principal]int

// codesFor returns the result codes of a stranger, a member, a moderator, a banned member and an administrator. For
// all operations, an anonymous caller gets 400100 and a user banned from the network gets 400312.
func codesFor(ofStranger, ofMember, ofModerator, ofOutcast, ofAdmin int) resultCodes {
	return resultCodes{
		anonymous: 400100, stranger: ofStranger, member: ofMember, moderator: ofModerator, bannedMember: ofOutcast, bannedUser: 400312,
		adminToken: ofAdmin,
	}
}

// Result codes that many operations share.
var (
	everyone   = codesFor(0, 0, 0, 0, 0)
	usersOnly  = codesFor(0, 0, 0, 0, 400300) // an administrator has no user account
	adminsOnly = codesFor(400300, 400300, 400300, 400300, 0)
	moderators = codesFor(400300, 400300, 0, 400300, 0)
	notBanned  = codesFor(0, 0, 0, 400304, 400300) // all users who see the resource, except banned ones
)

// keysOnly returns the result codes of operations that require a key instead of a token.
func keysOnly() resultCodes {
	v := resultCodes{}
	for _, w := range principals {
		v[w] = 400100
	}
	return v
}

// row is one way to call one operation.
type row struct {
	procedure string // "UserService/GetUser"
	name      string // distinguishes the rows of one operation
	// request builds the request and its resources, once for each principal.
	request func(t *testing.T, g *fixture) object
	want    resultCodes
	// spends says that the call ends the caller's session.
	endsSession bool
	// header is the names and values of additional headers.
	header []string
}

// fixture is what the operations are called on: a public community with all principals, and a private but
// discoverable one.
type fixture struct {
	n          *apptest.Network
	principals map[principal]*apptest.Client
	author     *apptest.Client // a member who creates all content
	boss       *apptest.Client // the owner of the communities
	open       string
	private    string
	events     map[string]string // an event by the community; a user may create few communities, which events have
	kept       object            // what a change needs besides the request, see guardRow
	guards     *guards           // of TestGuards
}

func newFixture(t *testing.T, options ...apptest.Option) *fixture {
	t.Helper()
	n := apptest.Start(t, options...)
	g := &fixture{n: n, principals: map[principal]*apptest.Client{anonymous: n.Anonymous(region.EU), adminToken: n.Admin(region.US)}}
	for i, w := range []principal{stranger, member, moderator, bannedMember, bannedUser} {
		g.principals[w] = n.SignIn(t, region.All()[i%3], apptest.UserID("walker"))
	}
	g.author, g.boss = n.SignIn(t, region.SG, apptest.UserID("author")), n.SignIn(t, region.EU, apptest.UserID("boss"))
	g.open = g.community(t)
	g.private = g.community(t, object{"isPublic": false, "isDiscoverable": true})
	n.Admin(region.EU).Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": g.principals[bannedUser].UserID}).OK(t)
	return g
}

// community creates a community with a member, a moderator and a banned member.
func (g *fixture) community(t *testing.T, fields ...object) string {
	t.Helper()
	ids := []string{g.author.UserID}
	for _, w := range []principal{member, moderator, bannedMember} {
		ids = append(ids, g.principals[w].UserID)
	}
	id := newCommunity(t, g.boss, append([]object{{"userIds": ids}}, fields...)...)
	g.boss.Do(t, http.MethodPost, membersPath(id)+"/roles",
		object{"role": "community-moderator", "userIds": []string{g.principals[moderator].UserID}}).OK(t)
	banMember(t, g.boss, id, g.principals[bannedMember])
	return id
}

func (g *fixture) post(t *testing.T, communityID string) string {
	t.Helper()
	return newPost(t, g.author, communityID)
}

func (g *fixture) comment(t *testing.T, communityID string) string {
	t.Helper()
	return newComment(t, g.author, g.post(t, communityID))
}

// user returns a new user without memberships.
func (g *fixture) user(t *testing.T) *apptest.Client {
	t.Helper()
	return g.n.SignIn(t, region.EU, apptest.UserID("user"))
}

// call sends a request over Connect with JSON and returns the code of the answer, 0 for success.
func (g *fixture) call(t *testing.T, by *apptest.Client, r row, body object) int {
	t.Helper()
	answer := by.With(r.header...).Do(t, http.MethodPost, "/plaza.v1."+r.procedure, body)
	if answer.Status == http.StatusOK {
		return 0
	}
	for i := range answer.List(t, "details") {
		raw, err := base64.RawStdEncoding.DecodeString(answer.String(t, "details."+strconv.Itoa(i)+".value"))
		require.NoError(t, err)
		var info plazav1.ErrorInfo
		require.NoError(t, proto.Unmarshal(raw, &info))
		return int(info.GetCode())
	}
	require.Fail(t, "an error without its code", "%s", answer.Short())
	return 0
}

// procedures returns all operations of all services, from the descriptors.
func procedures() []string {
	var all []string
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				all = append(all, fmt.Sprintf("%s/%s", service.Name(), service.Methods().Get(j).Name()))
			}
		}
		return true
	})
	slices.Sort(all)
	return all
}

// TestEveryOperationHasARow fails for an operation without a row and for a row without an operation.
func TestEveryOperationHasARow(t *testing.T) {
	t.Parallel()
	walked := map[string]bool{}
	for _, r := range authorizationRows() {
		walked[r.procedure] = true
	}
	all := procedures()
	require.NotEmpty(t, all)
	for _, p := range all {
		require.True(t, walked[p], "%s has no authorization row: say who may call it", p)
	}
	for p := range walked {
		require.Contains(t, all, p, "a row for an unknown operation")
	}
}

// TestAuthorization calls every operation as every principal.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	events := newAuditReader(t, g.n)
	for _, r := range authorizationRows() {
		t.Run(strings.TrimSuffix(r.procedure+" "+r.name, " "), func(t *testing.T) {
			require.Len(t, r.want, len(principals), "a result for each principal")
			for _, w := range principals {
				by := g.principals[w]
				if r.endsSession && by.UserID != "" && w != bannedUser {
					by = g.n.SignIn(t, by.Region, by.UserID)
				}
				body := object{}
				if r.request != nil {
					body = r.request(t, g)
				}
				requestID := strings.ReplaceAll(fmt.Sprintf("%s-%s-%s-%s", r.procedure, r.name, w, apptest.UserID("")), " ", "_")
				code := g.call(t, by.With("X-Request-Id", requestID), r, body)
				require.Equal(t, r.want[w], code, "%s as %s", r.procedure, w)
				requireAudited(t, events, r, w, code, requestID)
			}
		})
	}
}

// TestRoleChangesApplyImmediately checks that changes of a caller's roles apply to the next call.
func TestRoleChangesApplyImmediately(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	clears := row{procedure: "PostService/ClearPostFlags"}
	flags := row{procedure: "PostService/FlagPost"}
	post := object{"postId": g.post(t, g.open)}
	mod := g.principals[moderator]
	roles := object{"role": "community-moderator", "userIds": []string{mod.UserID}}
	require.Equal(t, 0, g.call(t, mod, clears, post))
	g.boss.Do(t, http.MethodDelete, membersPath(g.open)+"/roles", roles).OK(t)
	require.Equal(t, 400300, g.call(t, mod, clears, post))
	require.Equal(t, 0, g.call(t, mod, flags, post))
	banMember(t, g.boss, g.open, mod)
	require.Equal(t, 400304, g.call(t, mod, flags, post))
	g.n.Admin(region.SG).Do(t, http.MethodPut, "/api/v3/users", object{"userId": mod.UserID, "roles": []string{"moderator"}}).OK(t)
	require.Equal(t, 0, g.call(t, mod, clears, post), "a network role counts in spite of the ban")
	expired := g.n.Bearer(region.EU, g.n.MintAdmin(t, "late", time.Now().Add(-2*time.Hour), time.Hour))
	require.Equal(t, 400100, g.call(t, expired, clears, post))
}
