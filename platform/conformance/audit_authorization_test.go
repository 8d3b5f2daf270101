package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/plaza-social/plaza/platform/apptest"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// auditReader reads audit events from the database, so that reading leaves no event.
type auditReader struct{ conn *pgx.Conn }

func newAuditReader(t *testing.T, n *apptest.Network) *auditReader {
	t.Helper()
	conn := connectTo(t, n)
	return &auditReader{conn}
}

// auditRow is an event in the database.
type auditRow struct {
	Kind, Actor, KeyID, Permission, Operation string
	Roles                                     []string
	Targets                                   []struct{ Type, ID string }
}

// of returns the events of a request.
func (r *auditReader) of(t *testing.T, requestID string) []auditRow {
	t.Helper()
	rows,
		err := r.conn.Query(t.Context(),
		`SELECT actor_kind, actor, key_id, permission, operation, roles, targets::text FROM audit_events WHERE request_id = $1`, requestID)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a auditRow, err error) {
		var targets string
		if err = row.Scan(&a.Kind, &a.Actor, &a.KeyID, &a.Permission, &a.Operation, &a.Roles, &targets); err == nil {
			err = json.Unmarshal([]byte(targets), &a.Targets)
		}
		return a, err
	})
	require.NoError(t, err)
	return found
}

// changesNothing are operations that are no reads and whose calls in the authorization rows change nothing.
var changesNothing = map[string]bool{
	"ModerationListService/VerifyAllowed": true, "ModerationListService/VerifyNotBlocked": true,
}

// mayChangeNothing are operations that are privileged but whose calls in the authorization rows change nothing, such as
// the removal of a user who is not a member, or concern what the moderator created.
var mayChangeNothing = map[string]bool{
	"MemberService/RemoveMembers": true, "MemberService/UnbanMembers": true, "MemberService/AddMemberRoles": true,
	"MemberService/RemoveMemberRoles": true, "ChannelUserService/AddChannelUsers": true, "ChannelUserService/UnbanChannelUsers": true,
	"ChannelUserService/RemoveChannelUserRoles": true, "StoryService/CreateStory": true, "StoryService/DeleteStory": true,
	"EventService/CreateEvent": true,
}

// methodOf returns an operation by its name, such as UserService/GetUser, and its access option.
func methodOf(t *testing.T, procedure string) (readOnly bool, access *plazav1.Access) {
	t.Helper()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName("plaza.v1." + strings.ReplaceAll(procedure, "/", ".")))
	require.NoError(t, err)
	options, _ := found.Options().(*descriptorpb.MethodOptions)
	access, _ = proto.GetExtension(options, plazav1.E_Access).(*plazav1.Access)
	return options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS, access
}

// requireAudited checks that a call left exactly one event if it was a success that only a privilege allowed, and
// otherwise none.
func requireAudited(t *testing.T, events *auditReader, r row, w principal, code int, requestID string) {
	t.Helper()
	found := events.of(t, requestID)
	readOnly, access := methodOf(t, r.procedure)
	changes := !readOnly && !changesNothing[r.procedure] || access.GetAudited()
	switch {
	case code != 0 || !changes:
		require.Empty(t, found, "%s as %s", r.procedure, w)
	case mayChangeNothing[r.procedure]:
		require.LessOrEqual(t, len(found), 1, "%s as %s", r.procedure, w)
	case w == adminToken:
		require.Len(t, found, 1, "%s as %s", r.procedure, w)
		require.Equal(t, "administrator", found[0].Kind)
		require.Equal(t, r.procedure, found[0].Operation)
		require.NotEmpty(t, found[0].Targets, "%s: the operation concerns nothing", r.procedure)
	case w == moderator && r.want[member] != 0 && r.want[stranger] != 0:
		require.Len(t, found, 1, "%s as %s", r.procedure, w)
		require.Equal(t, "user", found[0].Kind)
		require.NotEmpty(t, found[0].Permission)
	default:
		require.Empty(t, found, "%s as %s", r.procedure, w)
	}
}
