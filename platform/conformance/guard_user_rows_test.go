package conformance

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// Callers of the rows of users.
const (
	apiKey  principal = "an application with an API key"
	another principal = "another user of the row" // who is set by the request
)

// aboutNewcomer builds a request that names a new user.
func aboutNewcomer(more object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		g.principals[userOfRow] = g.user(t)
		return with(object{"userId": g.principals[userOfRow].UserID}, more)
	}
}

// erases is the change that erases the new user, who is deleted at once, and waits for the rest. The erasure waits for the request that
// the change interrupts, and then for the time between its passes, which ends here.
func erases(t *testing.T, g *fixture, _ string, _ object) {
	t.Helper()
	user := g.principals[userOfRow]
	g.principals[adminToken].Do(t, http.MethodDelete, "/api/v4/users/"+user.UserID, nil).OK(t)
	conn := connectTo(t, g.n)
	require.Eventually(t, func() bool {
		_, err := conn.Exec(t.Context(), "UPDATE erasures SET due_at = now() WHERE state = 'verifying' AND step = ''")
		require.NoError(t, err)
		var state string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT state FROM erasures WHERE id = $1", user.InternalID).Scan(&state))
		return state == "done"
	}, apptest.Patience, 100*time.Millisecond)
}

func userGuardRows() []guardRow {
	revokes := calls("SessionService/RevokeUserSessions", "userId")
	device := func(t *testing.T, g *fixture) object {
		t.Helper()
		return with(aboutNewcomer(nil)(t, g), object{"platform": "android", "token": region.NewID(region.EU)})
	}
	promotes := callsAs(adminToken, "UserService/UpdateUser", object{"roles": []string{"moderator"}}, "userId")
	wallPost := func(t *testing.T, g *fixture) object {
		t.Helper()
		g.principals[userOfRow] = g.user(t)
		return object{"referenceId": newWallPost(t, g.principals[userOfRow]), "data": object{"text": "x"}}
	}
	uploaded := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"fileId": upload(t, g.author, "file", "guarded", []byte("x"))["fileId"]}
	}
	altText := func(t *testing.T, g *fixture) object { t.Helper(); return with(uploaded(t, g), object{"altText": "x"}) }
	deletesFile := calls("FileService/DeleteFile", "fileId")
	sends := func(t *testing.T, g *fixture, _ object) int {
		t.Helper()
		code, _ := g.author.Upload(t, "file", "guarded", []byte("x")).Error(t)
		return code
	}
	newcomerSends := func(t *testing.T, g *fixture, _ object) int {
		t.Helper()
		code, _ := g.principals[userOfRow].Upload(t, "file", "guarded", []byte("x")).Error(t)
		return code
	}
	abandons := func(t *testing.T, g *fixture, _ string, _ object) {
		t.Helper()
		g.exec(t, `UPDATE uploads SET abandoned = true`)
	}
	return []guardRow{
		{
			condition: "store/media.InsertFile sqlUploadGuardOpen", procedure: "an upload", request: noFields, send: sends, change: abandons,
			want:   500000,
			writes: []string{"uploads"},
		},
		{
			condition: "service/file.Finish GuardTarget", procedure: "an upload", request: aboutNewcomer(nil), send: newcomerSends, change: erases,
			want: 400100, writes: []string{"uploads"},
		},
		{
			condition: "service/user.setBan GuardTarget", procedure: "UserService/BanUser", by: adminToken,
			request: aboutNewcomer(nil), change: erases, want: 400400,
		},
		{
			condition: "service/user.changeFlags GuardTarget", procedure: "UserService/FlagUser", by: member,
			request: aboutNewcomer(nil), change: erases, want: 400400,
		},
		{
			condition: "service/user.UpdateUser GuardTarget", procedure: "UserService/UpdateUser", by: adminToken,
			request: aboutNewcomer(object{"displayName": "x"}), change: erases, want: 400400,
		},
		{
			condition: "service/session.revokeAll GuardTarget", procedure: "SessionService/RevokeUserSessions", by: adminToken,
			request: aboutNewcomer(nil), change: erases, want: 400400,
		},
		{
			condition: "service/session.store GuardNoRoles", procedure: "SessionService/CreateSession", by: apiKey,
			request: aboutNewcomer(object{"deviceId": "second"}), change: promotes, want: 400100,
		},
		{
			condition: "service/notification.RegisterDevice GuardDeviceSession", procedure: "NotificationService/RegisterDevice", by: userOfRow,
			request: device, change: revokesNewcomer(revokes), want: 400100,
		},
		{
			condition: "service/notification.putItems GuardTarget", procedure: "CommentService/CreateComment", by: member,
			request: wallPost, change: erases, inBackground: true,
		},
		{
			condition: "store/media.UpdateAltText sqlFileGuard", procedure: "FileService/UpdateFile", by: theAuthor,
			request: altText, change: deletesFile, want: 400400,
		},
		{
			condition: "store/media.DeleteFile sqlFileGuard", procedure: "FileService/DeleteFile", by: theAuthor,
			request: uploaded, change: deletesFile, want: 400400,
		},
	}
}

// revokesNewcomer is a change that names the new user.
func revokesNewcomer(revokes change) change {
	return func(t *testing.T, g *fixture, procedure string, _ object) {
		t.Helper()
		revokes(t, g, procedure, object{"userId": g.principals[userOfRow].UserID})
	}
}

// aboutAnother builds a request of a new user about another one, who is at home in a region. The new user did before what the
// procedures say.
func aboutAnother(code region.Code, before ...string) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		g.principals[userOfRow], g.principals[another] = g.user(t), g.n.SignIn(t, code, apptest.UserID("another"))
		request := object{"userId": g.principals[another].UserID}
		for _, procedure := range before {
			again(userOfRow)(t, g, procedure, request)
		}
		return request
	}
}

func followGuardRows() []guardRow {
	const service = "FollowService/"
	byNewcomer := func(procedure string) change { return callsAs(userOfRow, service+procedure, nil, "userId") }
	byAnother := func(procedure string) change {
		return func(t *testing.T, g *fixture, _ string, _ object) {
			t.Helper()
			again(another)(t, g, service+procedure, object{"userId": g.principals[userOfRow].UserID})
		}
	}
	// followed is a request about a user who followed the new one, and who does so again before the block is known at that user's home.
	followed := func(t *testing.T, g *fixture) object {
		t.Helper()
		request := aboutAnother(region.US)(t, g)
		byAnother("FollowUser")(t, g, "", nil)
		byAnother("UnfollowUser")(t, g, "", nil)
		return request
	}
	followsAgain := func(t *testing.T, g *fixture, _ string, _ object) {
		t.Helper()
		g.exec(t, `UPDATE follows SET status = 'accepted', version = version + 1 WHERE follower_id = $1`, g.principals[another].InternalID)
	}
	outdated := func(t *testing.T, g *fixture, _ string, _ object) {
		t.Helper()
		g.exec(t, `UPDATE blocked_by SET version = version + 10 WHERE blocker_id = $1`, g.principals[userOfRow].InternalID)
	}
	return []guardRow{
		{
			condition: "service/follow.store GuardTarget", procedure: service + "FollowUser", by: userOfRow,
			request: aboutAnother(region.EU), change: erases, want: 400400,
		},
		{
			condition: "store/people.GuardNotBlocked sqlBlockGuardNone", procedure: service + "FollowUser", by: userOfRow,
			request: aboutAnother(region.EU), change: byNewcomer("BlockUser"), want: 400300,
		},
		{
			condition: "store/people.GuardNotBlocked sqlBlockedByGuardNone", procedure: service + "FollowUser", by: userOfRow,
			request: aboutAnother(region.EU), change: byAnother("BlockUser"), want: 400300,
		},
		{
			condition: "store/people.ChangeFollow follows_pkey", procedure: service + "FollowUser", by: userOfRow,
			request: aboutAnother(region.EU), change: byNewcomer("FollowUser"),
		},
		{
			condition: "store/people.ChangeFollow sqlFollowUpdate", procedure: service + "UnfollowUser", by: userOfRow,
			request: aboutAnother(region.EU, service+"FollowUser"), change: byNewcomer("UnfollowUser"), want: 400400,
		},
		{
			condition: "store/people.ChangeBlock blocks_pkey", procedure: service + "BlockUser", by: userOfRow,
			request: aboutAnother(region.EU), change: byNewcomer("BlockUser"),
		},
		{
			condition: "store/people.ChangeBlock sqlBlockUpdate", procedure: service + "UnblockUser", by: userOfRow,
			request: aboutAnother(region.EU, service+"BlockUser"), change: byNewcomer("UnblockUser"), want: 400400,
		},
		{
			condition: "service/follow.storeBlock GuardNoFollow", procedure: service + "BlockUser", by: userOfRow,
			request: aboutAnother(region.EU), change: byNewcomer("FollowUser"),
		},
		{
			condition: "service/follow.applyBlock GuardNoFollow", procedure: service + "BlockUser", by: userOfRow,
			request: followed, change: followsAgain, inBackground: true,
		},
		{
			condition: "store/people.MirrorBlock sqlBlockedByGuardVersion", procedure: service + "UnblockUser", by: userOfRow,
			request: aboutAnother(region.US, service+"BlockUser"), change: outdated, inBackground: true,
		},
	}
}

// networkGuardRows are the rows of the operations of administrators, and of what they start in the background.
func networkGuardRows() []guardRow {
	webhook := func() object {
		return object{"url": "https://hooks.example.com/", "name": apptest.UserID("hook"), "isEnabled": false}
	}
	fullOfWebhooks := func(t *testing.T, g *fixture) object {
		t.Helper()
		for range 9 {
			again(adminToken)(t, g, "WebhookService/CreateWebhook", webhook())
		}
		return webhook()
	}
	addsWebhook := func(t *testing.T, g *fixture, procedure string, _ object) {
		t.Helper()
		again(adminToken)(t, g, procedure, webhook())
	}
	fullOfRules := func(t *testing.T, g *fixture) object {
		t.Helper()
		var rules []string
		for i := range 99 {
			rules = append(rules, fmt.Sprintf("[a-z]+%d\\.example", i))
		}
		again(adminToken)(t, g, "ModerationListService/AddAllowRules", object{"regexs": rules})
		return object{"regexs": []string{"[a-z]+x\\.example"}}
	}
	erased := func(t *testing.T, g *fixture) object {
		t.Helper()
		r := aboutNewcomer(nil)(t, g)
		g.kept = g.contentOf(t, g.principals[userOfRow])
		return r
	}
	deletes := func(noun, field string) change {
		return func(t *testing.T, g *fixture, _ string, _ object) {
			t.Helper()
			require.Zero(t, g.call(t, g.principals[adminToken], row{procedure: noun}, object{field: g.kept[field]}), noun)
		}
	}
	// outdates is the change of another server that works on the same rows, including those of earlier rows.
	outdates := func(table string) change {
		return func(t *testing.T, g *fixture, _ string, _ object) {
			t.Helper()
			g.exec(t, `UPDATE `+table+` SET version = version + 1`)
		}
	}
	due := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"id": newScheduled(t, g.author, scheduling(timeIn(time.Hour), g.open, "due"))}
	}
	makesDue := func(t *testing.T, g *fixture, r object) int {
		t.Helper()
		makeDue(t, g.n, "scheduled_posts", text(r, "id"))
		return 0
	}
	repeatable := func(t *testing.T, g *fixture) object {
		t.Helper()
		user := g.user(t)
		g.principals[userOfRow] = user.With("Idempotency-Key", user.UserID)
		return object{"targetType": "user", "targetId": user.UserID, "data": object{"text": "once"}}
	}
	repeats := func(t *testing.T, g *fixture, procedure string, request object) {
		t.Helper()
		g.exec(t, `UPDATE idempotency_keys SET locked_until = now() - interval '1 second'`)
		again(userOfRow)(t, g, procedure, request)
	}
	const erase = "ErasureService/EraseUser"
	return []guardRow{
		{
			condition: "service/role.store GuardRoleIDFree", procedure: "RoleService/CreateRole", by: adminToken,
			change: again(adminToken), want: 400315,
		},
		{
			condition: "service/webhook.update GuardWebhooks", procedure: "WebhookService/CreateWebhook", by: adminToken,
			request: fullOfWebhooks, change: addsWebhook, want: 500000,
		},
		{
			condition: "store/network.AddDailyUsage sqlDailyUsageGuard", procedure: "ChannelService/CreateChannel", by: userOfRow,
			request: firstChannel,
			change:  spendsChannels, want: 400311,
		},
		{
			condition: "store/network.WithIdempotency sqlIdempotencyMarkGuard", procedure: "PostService/CreatePost", by: userOfRow,
			request: repeatable,
			change:  repeats,
		},
		{
			condition: "store/content.ResolveScheduledPost sqlScheduledGuardWaiting", procedure: "ScheduledPostService/SchedulePost", request: due,
			send:   makesDue,
			change: calls("ScheduledPostService/CancelScheduledPost", "id"), inBackground: true,
		},
		{
			condition: "service/moderationlist.update GuardModerationRules", procedure: "ModerationListService/AddAllowRules", by: adminToken,
			request: fullOfRules, change: again(adminToken, object{"regexs": []string{"[a-z]+y\\.example"}}), want: 500000,
		},
		{
			condition: "service/erasure.deletePost GuardPost", procedure: erase, by: adminToken,
			request: erased, change: deletes("PostService/DeletePost", "postId"), inBackground: true,
		},
		{
			condition: "service/erasure.deleteStory GuardStory", procedure: erase, by: adminToken,
			request: erased, change: deletes("StoryService/DeleteStory", "storyId"), inBackground: true,
		},
		{
			condition: "service/erasure.deleteComment GuardCommentStatus", procedure: erase, by: adminToken,
			request: erased, change: deletes("CommentService/DeleteComment", "commentId"), inBackground: true,
		},
		{
			condition: "service/erasure.deleteMessage GuardMessage", procedure: erase, by: adminToken,
			request: erased, change: deletes("MessageService/DeleteMessage", "messageId"), inBackground: true,
		},
		{
			condition: "store/lifecycle.UpdateErasure sqlErasureUpdate", procedure: erase, by: adminToken,
			request: aboutNewcomer(nil), change: outdates("erasures"), inBackground: true,
		},
		{
			condition: "store/lifecycle.UpdateExport sqlExportUpdate", procedure: "ExportService/StartExport", by: adminToken,
			request: aboutNewcomer(nil), change: outdates("user_exports"), inBackground: true,
		},
		{
			condition: "store/lifecycle.UpdateUserMove sqlUserMoveUpdate", procedure: "MoveService/MoveUser", by: adminToken,
			request: aboutNewcomer(object{"region": "sg"}), change: outdates("user_moves"), inBackground: true,
		},
	}
}

// mostChannels is how many channels a user may create in a day.
const mostChannels = 1000

// firstChannel builds a request for the first channel of a new user.
func firstChannel(t *testing.T, g *fixture) object {
	t.Helper()
	g.principals[userOfRow] = g.user(t)
	return object{"displayName": "c"}
}

// spendsChannels uses up the quota of the new user.
func spendsChannels(t *testing.T, g *fixture, _ string, _ object) {
	t.Helper()
	g.exec(t, `INSERT INTO daily_usages (home, user_id, kind, day, used) VALUES ('eu', $1, 'channels', $2, $3)`,
		g.principals[userOfRow].InternalID, time.Now().UTC().Format(time.DateOnly), mostChannels)
}

// contentOf makes content of a user of each kind whose deletion an erasure shares with other users, and returns its ids.
func (g *fixture) contentOf(t *testing.T, c *apptest.Client) object {
	t.Helper()
	c.Join(t, g.open)
	chat := newChat(t, g.boss, c)
	return object{
		"postId": newPost(t, c, g.open), "storyId": newWallStory(t, c), "commentId": newComment(t, c, g.post(t, g.open)),
		"messageId": chat.newMessage(t, c, "hello"),
	}
}
