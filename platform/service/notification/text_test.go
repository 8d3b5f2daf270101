package notification

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/notify"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestSentence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		names  []string
		actors int
		mark   string
		want   string
	}{
		"one":                           {[]string{"Ann"}, 1, "", "Ann waved"},
		"two":                           {[]string{"Ann", "Ben"}, 2, "", "Ann and Ben waved"},
		"two, one of them without name": {[]string{"Ann"}, 2, "", "Ann and 1 other waved"},
		"three":                         {[]string{"Ann", "Ben", "Cem"}, 3, "", "Ann and 2 others waved"},
		"one without a name":            {nil, 1, "", "Someone waved"},
		"several without names":         {nil, 3, "", "Someone and 2 others waved"},
		"marked":                        {[]string{"Ann"}, 1, "{{", "{{Ann}} waved"},
		"two marked":                    {[]string{"Ann", "Ben"}, 2, "{{", "{{Ann}} and {{Ben}} waved"},
		"one other marked":              {[]string{"Ann"}, 2, "{{", "{{Ann}} and {{1 other}} waved"},
		"others marked":                 {[]string{"Ann", "Ben"}, 4, "{{", "{{Ann}} and {{3 others}} waved"},
	} {
		require.Equal(t, c.want, sentence(c.names, c.actors, "waved", c.mark), name)
	}
}

// TestTrayItem checks each field of an item, also of one whose second actor is no longer known.
func TestTrayItem(t *testing.T) {
	t.Parallel()
	at, seen, day := servicetest.Noon, servicetest.Noon.Add(time.Minute), servicetest.Noon.Truncate(24*time.Hour)
	row := notify.TrayRow{Actors: 2, TrayItem: notify.TrayItem{
		ID: "item", Kind: replyReaction, TargetType: "community", TargetID: "internal", TargetPublicID: "public", ReferenceType: "comment",
		ReferenceID: "reference", ActionID: "action", ParentID: "parent", RootID: "root", CommentID: "latest", Day: day, LastOccurredAt: at,
		LastSeenAt: &seen,
	}}
	actors := []notify.TrayActor{{ActorID: "1", ActedAt: at}, {ActorID: "2", ActedAt: day}}
	category, parent, root, latest := "reaction_on_reply", "parent", "root", "latest"
	want := &plazav1.NotificationTrayItem{
		PrivateId: "item", LastSeenAt: timestamppb.New(seen), LastOccurredAt: timestamppb.New(at), ActorsCount: 2, TrayItemCategory: &category,
		Actors: []*plazav1.TrayActor{
			{PrivateId: "1", PublicId: "ann", LastActedAt: timestamppb.New(at)},
			{PrivateId: "2", LastActedAt: timestamppb.New(day)},
		},
		TargetId: "public", TargetType: "community", ReferenceId: "reference", ReferenceType: "comment", ActionType: "reaction",
		ActionReferenceId: "action", ActionReferenceType: "reaction", ParentId: &parent, RootId: &root, LatestCommentId: &latest,
		DaySegment: timestamppb.New(day), Text: "Ann and 1 other reacted to your reply",
		TemplatedText: "{{Ann}} and {{1 other}} reacted to your reply",
	}
	require.Equal(t, want, trayItem(row, actors, map[string]*plazav1.User{"1": {UserPublicId: "ann", DisplayName: "Ann"}}))
	bare := trayItem(notify.TrayRow{Actors: 1, TrayItem: notify.TrayItem{Kind: postComment}}, nil, nil)
	require.Nil(t, bare.TrayItemCategory)
	require.Nil(t, bare.ParentId)
	require.Nil(t, bare.LastSeenAt)
}

func TestTextsOfMessages(t *testing.T) {
	t.Parallel()
	for dataType, want := range map[string]string{
		"image": "Sent an image", "audio": "Sent an audio", "video": "Sent a video", "file": "Sent a file", "custom": "Sent a message",
	} {
		require.Equal(t, want, messageText(messaging.Message{DataType: dataType, Data: []byte(`{}`)}))
		require.Equal(t, "Hi", messageText(messaging.Message{DataType: dataType, Data: []byte(`{"text": "Hi"}`)}))
	}
	a := alert{actorName: "Ann", place: "Climbers"}
	a.inPlace("Hi")
	require.Equal(t, []string{"Climbers", "Ann: Hi"}, []string{a.title, a.body})
	a = alert{actorName: "Ann"}
	a.inPlace("Hi")
	require.Equal(t, []string{"Ann", "Hi"}, []string{a.title, a.body})
	a = alert{place: "Climbers"}
	a.inPlace("Hi")
	require.Equal(t, []string{"Climbers", "Someone: Hi"}, []string{a.title, a.body})
}

func TestShortenKeepsTextsAtTheLimit(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("ä", maxText)
	require.Equal(t, longest, shorten(longest))
	require.Equal(t, longest[:len(longest)-len("ä")]+"…", shorten(longest+"x"))
}

// TestEventNames checks by which names the settings of users decide about messages and items.
func TestEventNames(t *testing.T) {
	t.Parallel()
	const general = "conversation-message.created"
	for dataType, want := range map[string][]string{
		"text": {"conversation-text-message.created", general}, "image": {"conversation-image-message.created", general},
		"file": {"conversation-file-message.created", general}, "video": {general}, "custom": {general},
	} {
		require.Equal(t, want, messageEvents(messaging.Message{ChannelType: messaging.ChannelConversation, DataType: dataType}), dataType)
		require.Equal(t, []string{"message.created"},
			messageEvents(messaging.Message{ChannelType: messaging.ChannelCommunity, DataType: dataType}),
			dataType)
	}
	onWall := map[string]string{
		postMention: "text-mention-user-feed-post.created", pollMention: "text-mention-user-feed-post.created",
		commentMention: "text-mention-user-feed-comment.created", replyMention: "text-mention-user-feed-comment.replied",
	}
	for kind, want := range map[string]string{
		postMention: "text-mention-post.created", pollMention: "text-mention-post.created", commentMention: "text-mention-comment.created",
		replyMention: "text-mention-comment.replied", postReaction: "post.reacted", commentReaction: "comment.reacted",
		replyReaction: "comment.reacted",
		postComment:   "comment.created", storyComment: "story-comment.created", commentReply: "comment.replied", newFollower: "follow.created",
		followRequest: "follow.requested", followAccepted: "follow.accepted",
	} {
		require.Equal(t, []string{want}, eventsOf(kind, "community"), kind)
		if own := onWall[kind]; own != "" {
			want = own
		}
		require.Equal(t, []string{want}, eventsOf(kind, "user"), kind)
	}
	for _, kind := range []string{joinRequest, joinApproved, joinRejected, communityInvitation, coHostInvitation} {
		require.Empty(t, eventsOf(kind, "community"), "public clients have no name for %s", kind)
	}
}

// TestAlertOfAnItem checks what identifies an alert, whose settings apply to it, and what the device gets.
func TestAlertOfAnItem(t *testing.T) {
	t.Parallel()
	n := notice{actorID: "actor", trace: "trace", item: notify.TrayItem{
		ID: "item", Kind: postReaction, TargetType: "community", TargetID: "internal", TargetPublicID: "public", ReferenceType: "post",
		ReferenceID: "p", ActionID: "r",
	}}
	want := &alert{
		trace: "trace", happened: "item|r", names: []string{"post.reacted"}, actorID: "actor", body: "Reacted to your post",
		level: levelCommunity, targetID: "internal",
		data: map[string]string{
			"targetType": "community", "targetId": "public", "referenceType": "post", "referenceId": "p", "actionType": "reaction",
			"actionReferenceType": "reaction", "actionReferenceId": "r",
		},
	}
	require.Equal(t, want, n.alert())
	n.item.TargetType = "user"
	require.Equal(t, place{}, n.place(), "a wall has no settings of its own")
	require.Empty(t, n.alert().level)
}

func TestModuleOfAlerts(t *testing.T) {
	t.Parallel()
	require.Equal(t, moduleChat, (&alert{level: levelChannel}).module())
	require.Equal(t, moduleSocial, (&alert{}).module(), "public clients have no name for the event")
	require.Equal(t, moduleSocial, (&alert{names: []string{"post.reacted"}, level: levelCommunity}).module())
	off := false
	socialOff := notify.NotifiedDevice{UserEvents: []byte(`{"social": {"off": true}}`)}
	require.False(t, (&alert{}).wantedOn(socialOff))
	require.True(t, (&alert{level: levelChannel}).wantedOn(socialOff))
	require.False(t, (&alert{mode: modeSubscribe}).wantedOn(notify.NotifiedDevice{TargetEnabled: &off}))
}

// TestRolesOfActors checks that the roles in the community and in the channel count with those in the network, and that the rows of those
// who left do not.
func TestRolesOfActors(t *testing.T) {
	t.Parallel()
	a := alert{actorRoles: []string{"network"}}
	a.setCommunity(&communities.Community{DisplayName: "Climbers", NotificationMode: modeSilent},
		&communities.Member{State: communities.StateMember, Roles: []string{"member"}})
	require.Equal(t, alert{place: "Climbers", mode: modeSilent, actorRoles: []string{"network", "member"}}, a)
	a.setCommunity(nil, &communities.Member{State: communities.StateBanned, Roles: []string{"banned"}})
	a.setChannel(nil, &messaging.ChannelUser{Membership: messaging.ChannelNone, Roles: []string{"left"}})
	a.setChannel(&messaging.Channel{DisplayName: "Hall", NotificationMode: modeSubscribe},
		&messaging.ChannelUser{Membership: messaging.ChannelMember, Roles: []string{"moderator"}})
	require.Equal(t, alert{place: "Hall", mode: modeSubscribe, actorRoles: []string{"network", "member", "moderator"}}, a)
}
