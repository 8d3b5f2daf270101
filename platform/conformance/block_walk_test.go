package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// readProcedures returns the operations that change nothing, from the descriptors.
func readProcedures() []string {
	var all []string
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				method := file.Services().Get(i).Methods().Get(j)
				options, ok := method.Options().(*descriptorpb.MethodOptions)
				if ok && options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS {
					all = append(all, string(file.Services().Get(i).Name())+"/"+string(method.Name()))
				}
			}
		}
		return true
	})
	slices.Sort(all)
	return all
}

// withoutBlocks are the operations to which blocks do not apply, by the reason.
var withoutBlocks = map[string]string{
	"of those who administer the network or moderate, who see everyone": `AuditService/ListAuditEvents ErasureService/GetErasure
		FlagService/CountFlagItems FlagService/GetFlagItem FlagService/ListFlagItems FlagService/ListFlags JoinRequestService/CountJoinRequests
		JoinRequestService/ListJoinRequests ModerationListService/ListAllowRules ModerationListService/ListBlockRules MoveService/GetUserMove
		PostService/ListPendingEdits PrehookService/GetPrehook RoleService/GetRole RoleService/ListAllRoles RoleService/ListRoles
		WebhookService/GetWebhook WebhookService/GetWebhookSettings WebhookService/ListWebhookDeliveries WebhookService/ListWebhooks
		InvitationService/CountInvitations InvitationService/ListInvitations AnalyticsService/ListViewers`,
	"of the caller's own": `CommunityService/GetMyPermissions EventService/GetMyEventRsvp EventService/ListMyEventRsvps ExportService/GetExport
		FollowService/GetMyFollowInfo FollowService/ListBlockedUsers InvitationService/ListMyInvitations JoinRequestService/BatchGetMyJoinRequests
		JoinRequestService/GetMyJoinRequest MarkerService/GetUserMarker MarkerService/ListChannelMarkers MarkerService/ListMessageFeedMarkers
		MarkerService/ListMessageMarkers MarkerService/ListUserMessageFeeds MessageService/IsChannelMessageFlaggedByMe
		MessageService/IsMessageFlaggedByMe NotificationService/GetNotificationSetting NotificationService/GetTraySeen
		PresenceService/GetPresenceSettings ScheduledPostService/ListScheduledPosts SessionService/VerifySession
		UserService/IsUserFlaggedByMe RoomService/GetRoomToken ChannelService/ListArchivedChannels StoryService/GetStoryTargets`,
	"of the network": `CategoryService/BatchGetCategories CategoryService/GetCategory CategoryService/ListCategories
		NetworkSettingService/GetChatSettings NetworkSettingService/GetDeepLinkSettings NetworkSettingService/GetFeedSettings
		NetworkSettingService/GetModeration NetworkSettingService/GetNetworkSettings NetworkSettingService/GetProductSettings
		NetworkSettingService/GetSemanticSearchSettings NetworkSettingService/GetSocialSettings NetworkSettingService/GetUserSettings
		NetworkSettingService/GetVideoStreamingSettings PinService/ListGlobalPins ProductService/GetProduct ProductService/SearchProducts`,
	"of channels and communities, not of users": `ChannelService/BatchGetChannels ChannelService/GetChannel ChannelService/ListChannels
		CommunityService/ListRecommendedCommunities CommunityService/ListTrendingCommunities MessageFeedService/BatchGetMessageFeeds
		MessageFeedService/GetMessageFeed MessageFeedService/ListMessageFeeds PinService/ListCommunityPins`,
	"counts of users":              `FollowService/GetFollowInfo PresenceService/CountPresences`,
	"with tests of their own":      `FileService/GetFile NotificationService/ListTrayItems`,
	"as of an operation with rows": `FeedService/ListContentFeed MarkerService/ListDeliveredUsers PollService/GetPoll RoomService/ListLiveRooms`,
}

// TestEveryReadHasABlockRow fails for an operation without side effects that has neither a row nor a reason.
func TestEveryReadHasABlockRow(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, r := range blockRows() {
		known[r.procedure] = true
	}
	for reason, list := range withoutBlocks {
		for p := range strings.FieldsSeq(list) {
			require.False(t, known[p], "%s has two entries, one of them: %s", p, reason)
			known[p] = true
		}
	}
	all := readProcedures()
	require.NotEmpty(t, all)
	for _, p := range all {
		require.True(t, known[p], "%s has no row: say what it shows after a block", p)
	}
	for p := range known {
		require.Contains(t, all, p, "a row for an unknown operation")
	}
}

// shown returns which marks of a user an operation shows to a reader.
func (r blockRow) shown(t *testing.T, w *blockWorld, reader *apptest.Client, s side) []string {
	t.Helper()
	answer := reader.Do(t, http.MethodPost, "/plaza.v1."+r.procedure, r.request(w, s))
	var marks []string
	for _, mark := range r.shows {
		if answer.Status == http.StatusOK && (mark == anyAnswer || strings.Contains(string(answer.Body), `"`+s.marks[mark]+`"`)) {
			marks = append(marks, mark)
		}
	}
	return marks
}

// TestBlocksInEveryList reads what there is of two users as the other one, before and after one of them blocks the other, and at last at a
// server that does not reach the home of the one who blocks.
func TestBlocksInEveryList(t *testing.T) {
	t.Parallel()
	w := newBlockWorld(t)
	requireShown := func(kept func(r blockRow, mark string, byBlocker bool) bool) {
		for _, r := range blockRows() {
			for _, pair := range [][2]side{{w.ben, w.anna}, {w.anna, w.ben}} {
				reader, of := pair[0], pair[1]
				var want []string
				for _, mark := range r.shows {
					if kept(r, mark, of.id() == w.anna.id()) {
						want = append(want, mark)
					}
				}
				done := func() bool { return slices.Equal(want, r.shown(t, w, reader.by, of)) }
				if done() {
					continue
				}
				require.Eventually(t, done, apptest.Patience, 20*time.Millisecond, "%s as %s, of %s: want %v", r.procedure, reader.id(), of.id(), want)
			}
		}
	}
	requireShown(func(blockRow, string, bool) bool { return true })
	block(t, w.anna.by, w.ben.by)
	kept := func(r blockRow, mark string, byBlocker bool) bool { return !r.rule.loses(mark, byBlocker) }
	requireShown(kept)
	for _, r := range blockRows() {
		got := r.shown(t, w, w.ben.by.At(region.SG), w.anna)
		for _, mark := range got {
			require.True(t, kept(r, mark, true), "%s shows the %s while the home of the blocker is away", r.procedure, mark)
		}
	}
}
