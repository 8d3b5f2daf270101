package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

// sentTwiceElsewhere are the lists of which other tests send two values.
var sentTwiceElsewhere = map[string]string{
	"ChannelUserService/AddChannelUserRoles userIds":                           "conformance TestInverses",
	"ChannelUserService/AddChannelUsers userIds":                               "conformance TestInverses",
	"ChannelUserService/BanChannelUsers userIds":                               "conformance TestInverses",
	"ChannelUserService/MuteChannelUsers userIds":                              "conformance TestInverses",
	"ChannelUserService/RemoveChannelUserRoles userIds":                        "conformance TestInverses",
	"ChannelUserService/RemoveChannelUsers userIds":                            "conformance TestInverses",
	"ChannelUserService/UnbanChannelUsers userIds":                             "conformance TestInverses",
	"MemberService/AddMemberRoles roles":                                       "conformance TestInverses",
	"MemberService/AddMemberRoles userIds":                                     "conformance TestInverses",
	"MemberService/AddMembers userIds":                                         "conformance TestInverses",
	"MemberService/BanMembers userIds":                                         "conformance TestInverses",
	"MemberService/RemoveMemberRoles roles":                                    "conformance TestInverses",
	"MemberService/RemoveMemberRoles userIds":                                  "conformance TestInverses",
	"MemberService/RemoveMembers userIds":                                      "conformance TestInverses",
	"MemberService/UnbanMembers userIds":                                       "conformance TestInverses",
	"ModerationListService/DeleteAllowRules ruleIds":                           "conformance TestInverses",
	"ModerationListService/DeleteBlockRules ruleIds":                           "conformance TestInverses",
	"VideoStreamingService/BanStreamViewers userIds":                           "conformance TestInverses",
	"VideoStreamingService/UnbanStreamViewers userIds":                         "conformance TestInverses",
	"PrehookService/ReplaceManagedPrehook prehook.events":                      "conformance TestManagedPrehook",
	"PrehookService/UpdatePrehook events":                                      "conformance TestPrehook",
	"WebhookService/ReplaceManagedWebhooks webhooks":                           "conformance TestManagedWebhooks",
	"WebhookService/ReplayWebhookDeliveries deliveryIds":                       "delivery TestRetriesAndDeadLetters",
	"RoomService/CreateRoom participants":                                      "conformance TestRoomCoHosts", // at most one
	"StoryService/CreateStory items":                                           "conformance TestStoryLimits", // at most one
	"RoomService/ReportRoom recordings":                                        "conformance TestRoomRecordings",
	"AnalyticsService/ReportActivities activities":                             "conformance TestViews",
	"ReactionService/CreateLiveReactions reactions":                            "conformance TestMQTTLiveReactions",
	"NotificationService/MarkTrayItemsSeen trayItems":                          "conformance TestTraySeen",
	"ChannelService/SeeChannels channels":                                      "conformance TestSeenChannels",
	"ModerationListService/VerifyAllowed data":                                 "conformance TestVerifyTexts",
	"ModerationListService/VerifyNotBlocked data":                              "conformance TestVerifyTexts",
	"RoomService/ReportRoom labels":                                            "conformance TestRoomModeration",
	"VideoStreamingService/ReportVideoStreaming labels":                        "conformance TestVideoStreamModeration",
	"VideoStreamingService/ReportVideoStreaming recordings":                    "conformance TestVideoStream",
	"RoleService/UpdateRoles permissions":                                      "conformance TestUpdateRoles",
	"RoleService/UpdateRoles publicIds":                                        "conformance TestUpdateRoles",
	"UserService/UpdateUser clear":                                             "conformance TestNetworkRolesNeedAnAuthToken", // at most one
	"UserService/UpdateUser roles":                                             "conformance TestCustomRole",
	"NetworkSettingService/UpdateVideoStreamingSettings moderation.categories": "conformance TestVideoStreamingSettings",
}

// twiceRows returns a row for each operation with lists. A new list adds itself to a row.
func twiceRows() []twice {
	return slices.Concat(postTwice(), chatTwice(), placeTwice(), pollTwice(), settingTwice())
}

// send calls an operation by Connect, which must succeed.
func send(t *testing.T, by *apptest.Client, procedure string, request object) *apptest.Response {
	t.Helper()
	return by.Do(t, http.MethodPost, "/plaza.v1."+procedure, request).OK(t)
}

// pairs returns two values of each of the lists that content has, and the texts that show them.
func (g *fixture) pairs(t *testing.T, names ...string) (lists object, values []string) {
	t.Helper()
	users := userIDs(g.principals[member], g.principals[moderator])
	files := []string{g.n.File(t, "image", 1), g.n.File(t, "image", 2)}
	of := func(field string, values []string, value func(v string) any) {
		if slices.Contains(names, field) {
			lists[field] = []any{value(values[0]), value(values[1])}
		}
	}
	plain := func(v string) any { return v }
	mention := func(v string) any { return object{"type": "user", "userIds": []string{v}} }
	lists = object{}
	all := map[string][]string{
		"tags": {"first-tag", "second-tag"}, "hashtags": {"firsthash", "secondhash"}, "mentionees": users, "mentionedUsers": users,
		"attachments": files,
		"links":       {"https://first.example.com", "https://second.example.com"}, "productTags": {"first-product", "second-product"},
	}
	of("tags", all["tags"], plain)
	of("hashtags", all["hashtags"], plain)
	of("mentionees", users, mention)
	of("mentionedUsers", users, mention)
	of("attachments", files, func(v string) any { return object{"type": "image", "fileId": v} })
	of("links", all["links"], func(v string) any { return object{"url": v} })
	of("productTags", all["productTags"], func(v string) any { return object{"productId": v} })
	for _, name := range names {
		require.Contains(t, lists, name)
		values = append(values, all[name]...)
	}
	return lists, values
}

func postTwice() []twice {
	lists := []string{"attachments", "tags", "hashtags", "mentionees", "links", "productTags"}
	ofComment := []string{"mentionees", "attachments", "links"}
	under := func(field string) []string {
		var all []string
		for _, list := range lists {
			all = append(all, field+"."+list)
		}
		return all
	}
	scheduled := func(g *fixture, lists object) object {
		return with(scheduling(timeIn(time.Hour), g.open, "x"), object{
			"postData": with(object{"targetType": "community", "targetId": g.open, "data": object{"text": "x"}}, lists),
		})
	}
	listed := func(t *testing.T, g *fixture) *apptest.Response {
		t.Helper()
		return send(t, g.author, "ScheduledPostService/ListScheduledPosts", object{})
	}
	return []twice{
		{"PostService/CreatePost", lists, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, lists...)
			return send(t, g.boss, "PostService/GetPost", object{"postId": newPost(t, g.author, g.open, fields)}), values
		}},
		{"PostService/UpdatePost", append(slices.Clone(lists), "clear"), func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, lists...)
			id := object{"postId": g.post(t, g.open)}
			send(t, g.author, "PostService/UpdatePost", with(id, fields))
			shown := send(t, g.boss, "PostService/GetPost", id)
			requireCleared(t, g, "Post", id, []string{"tags", "hashtags"}, []string{"first-tag", "firsthash"})
			return shown, values
		}},
		{"CommentService/CreateComment", ofComment, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, ofComment...)
			return send(t, g.boss, "CommentService/GetComment", object{"commentId": newComment(t, g.author, g.post(t, g.open), fields)}), values
		}},
		{"CommentService/UpdateComment", append(slices.Clone(ofComment), "clear"), func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, ofComment...)
			id := object{"commentId": g.comment(t, g.open)}
			send(t, g.author, "CommentService/UpdateComment", with(id, fields))
			shown := send(t, g.boss, "CommentService/GetComment", id)
			requireCleared(t, g, "Comment", id, []string{"attachments", "links"}, []string{g.n.File(t, "image", 1), "first.example.com"})
			return shown, values
		}},
		{"ScheduledPostService/SchedulePost", under("postData"), func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, lists...)
			send(t, g.author, "ScheduledPostService/SchedulePost", scheduled(g, fields))
			return listed(t, g), values
		}},
		{"ScheduledPostService/UpdateScheduledPost", under("postData"), func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			for _, old := range listed(t, g).Strings(t, "data", "_id") {
				send(t, g.author, "ScheduledPostService/CancelScheduledPost", object{"id": old})
			}
			fields, values := g.pairs(t, lists...)
			id := send(t, g.author, "ScheduledPostService/SchedulePost", scheduled(g, nil)).String(t, "data.id")
			send(t, g.author, "ScheduledPostService/UpdateScheduledPost", with(scheduled(g, fields), object{"id": id}))
			return listed(t, g), values
		}},
		{"StoryService/CreateStory", []string{"mentionees"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, "mentionees")
			return send(t, g.author, "StoryService/GetStory", object{"storyId": newStory(t, g.boss, g.open, fields)}), values
		}},
	}
}

// requireCleared clears two fields of a post or comment, of which gone was a value.
func requireCleared(t *testing.T, g *fixture, kind string, id object, fields, gone []string) {
	t.Helper()
	send(t, g.author, kind+"Service/Update"+kind, with(id, object{"clear": fields}))
	for i, value := range gone {
		require.NotContains(t, string(send(t, g.boss, kind+"Service/Get"+kind, id).Body), value, fields[i])
	}
}

func chatTwice() []twice {
	return []twice{
		{"MessageService/CreateMessage", []string{"tags", "mentionedUsers"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			c, _ := g.chat(t, true)
			fields, values := g.pairs(t, "tags", "mentionedUsers")
			return send(t, g.boss, "MessageService/GetMessage", object{"messageId": c.newMessage(t, g.author, "hello", fields)}), values
		}},
		{
			"MessageService/UpdateMessage",
			[]string{"tags", "mentionedUsers", "mentionees"},
			func(t *testing.T, g *fixture) (*apptest.Response, []string) {
				t.Helper()
				_, message := g.chat(t, true)
				id := object{"messageId": message}
				fields, values := g.pairs(t, "tags", "mentionees")
				other, _ := g.pairs(t, "mentionedUsers")
				send(t, g.author, "MessageService/UpdateMessage", with(id, other))
				shown := string(send(t, g.boss, "MessageService/GetMessage", id).Body)
				for _, user := range values[2:] {
					require.Contains(t, shown, user, "mentionedUsers")
				}
				send(t, g.author, "MessageService/UpdateMessage", with(id, fields))
				return send(t, g.boss, "MessageService/GetMessage", id), values
			},
		},
		{"MessageService/CreateChannelMessage", []string{"tags", "mentionees"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			c, _ := g.chat(t, true)
			fields, values := g.pairs(t, "tags", "mentionees")
			send(t, g.author, "MessageService/CreateChannelMessage", with(object{"channelId": c.id, "data": object{"text": "x"}}, fields))
			return send(t, g.boss, "MessageService/ListMessages", object{"messageFeedId": c.id}), values
		}},
		{"ChannelService/CreateChannel", []string{"tags", "userIds"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, "tags")
			first, second, users := g.two(t, nil)
			id := newChannel(t, g.boss, fields, users)
			require.Equal(t, 3, memberCount(t, g.boss, "ChannelUserService/ListChannelUsers", "channelUsers", object{"channelId": id}, first,
				second))
			return send(t, first, "ChannelService/GetChannel", object{"channelId": id}), values
		}},
		{"ChannelService/UpdateChannel", []string{"tags"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, "tags")
			id := object{"channelId": newChannel(t, g.boss)}
			send(t, g.boss, "ChannelService/UpdateChannel", with(id, fields))
			return send(t, g.boss, "ChannelService/GetChannel", id), values
		}},
		{"ChannelService/CreateConversation", []string{"userIds", "tags"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, "tags")
			first, second, users := g.two(t, nil)
			id := object{"channelId": send(t, g.boss, "ChannelService/CreateConversation", with(users, fields)).String(t, "channels.0.channelId")}
			require.Equal(t, 3, memberCount(t, g.boss, "ChannelUserService/ListChannelUsers", "channelUsers", id, first, second))
			return send(t, second, "ChannelService/GetChannel", id), values
		}},
		{"MarkerService/ReadingMessageFeeds", []string{"messageFeedIds"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			c, _ := g.chat(t, true)
			second := &chat{id: c.subchannel(t, g.boss, "second"), boss: g.boss}
			second.newMessage(t, g.boss, "hello")
			feeds := []string{c.id, second.id}
			c.mark(t, g.principals[member], 1)
			second.mark(t, g.principals[member], 1)
			return send(t, g.principals[member], "MarkerService/ReadingMessageFeeds", object{"messageFeedIds": feeds}), feeds
		}},
		{"MarkerService/PushSegment", []string{"userIds", "mentionedUserIds"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			first, second, users := g.two(t, nil)
			f := newMessageFeed(first.InternalID, first.Region, first, second)
			f.segment = 1
			send(t, g.principals[adminToken], "MarkerService/PushSegment", with(users, object{
				"messageFeedId": f.id, "segment": 1, "entityId": f.channel, "messageId": "m", "mentionedUserIds": users["userIds"],
			}))
			f.awaitMessage(t, first)
			r := f.awaitMessage(t, second)
			require.Equal(t, 1, r.Int(t, "userFeedMarkers.0.lastMentionSegment"))
			return r, []string{f.id, f.channel}
		}},
	}
}

// memberCount returns the number of members of a place, among which are some.
func memberCount(t *testing.T, by *apptest.Client, procedure, list string, place object, among ...*apptest.Client) int {
	t.Helper()
	members := send(t, by, procedure, place).Strings(t, list, "userId")
	require.Subset(t, members, userIDs(among...))
	return len(members)
}

func placeTwice() []twice {
	categories := func(t *testing.T, g *fixture) []string {
		t.Helper()
		return []string{newCategory(t, g.principals[adminToken], "first"), newCategory(t, g.principals[adminToken], "second")}
	}
	community := func(t *testing.T, g *fixture, change func(fields object) string) (*apptest.Response, []string) {
		t.Helper()
		fields, values := g.pairs(t, "tags")
		ids := categories(t, g)
		id := change(with(fields, object{"categoryIds": ids}))
		return send(t, g.boss, "CommunityService/GetCommunity", object{"communityId": id}), append(values, ids...)
	}
	event := func(g *fixture, fields object) object {
		return with(eventIn(g.boss.UserID), object{"originType": "user"}, fields)
	}
	return []twice{
		{
			"CommunityService/CreateCommunity",
			[]string{"tags", "userIds", "categoryIds"},
			func(t *testing.T, g *fixture) (*apptest.Response, []string) {
				t.Helper()
				return community(t, g, func(fields object) string {
					first, second, users := g.two(t, nil)
					id := newCommunity(t, g.boss, fields, users)
					require.Equal(t, 3, memberCount(t, g.boss, "MemberService/ListMembers", "communityUsers", object{"communityId": id}, first, second))
					return id
				})
			},
		},
		{"CommunityService/UpdateCommunity", []string{"tags", "categoryIds"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			return community(t, g, func(fields object) string {
				id := newCommunity(t, g.boss)
				send(t, g.boss, "CommunityService/UpdateCommunity", with(fields, object{"communityId": id}))
				return id
			})
		}},
		{"EventService/CreateEvent", []string{"tags"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, "tags")
			return send(t, g.author, "EventService/GetEvent", object{"eventId": newEvent(t, g.boss, event(g, fields))}), values
		}},
		{"EventService/UpdateEvent", []string{"tags"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			fields, values := g.pairs(t, "tags")
			id := object{"eventId": newEvent(t, g.boss, event(g, nil))}
			send(t, g.boss, "EventService/UpdateEvent", with(fields, id))
			return send(t, g.author, "EventService/GetEvent", id), values
		}},
		{"InvitationService/CreateInvitations", []string{"userIds"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			first, second, _ := g.two(t, nil)
			send(t, g.boss, "InvitationService/CreateInvitations", inviteMembers(g.open, first, second))
			return send(t, g.boss, "InvitationService/ListInvitations", object{"targetType": "community", "targetId": g.open}),
				userIDs(first, second)
		}},
	}
}

func pollTwice() []twice {
	poll := func(t *testing.T, g *fixture) (id object, answers []string) {
		t.Helper()
		choices := []object{{"data": "first answer"}, {"data": "second answer"}, {"data": "third"}}
		request := object{"question": "which?", "answerType": "multiple", "answers": choices}
		r := send(t, g.author, "PollService/CreatePoll", request)
		return object{"pollId": r.String(t, "polls.0.pollId")}, r.Strings(t, "polls.0.answers", "id")
	}
	// voted returns the poll, and checks that the user has voted for the first and the second answer.
	voted := func(t *testing.T, by *apptest.Client, id object) (*apptest.Response, []string) {
		t.Helper()
		r := send(t, by, "PollService/GetPoll", id)
		for i, want := range []bool{true, true, false} {
			answer := "polls.0.answers." + []string{"0", "1", "2"}[i]
			require.Equal(t, want, r.Has(t, answer+".isVotedByUser") && r.Bool(t, answer+".isVotedByUser"))
		}
		return r, []string{"first answer", "second answer"}
	}
	return []twice{
		{"PollService/CreatePoll", []string{"answers"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			id, _ := poll(t, g)
			return send(t, g.author, "PollService/GetPoll", id), []string{"first answer", "second answer"}
		}},
		{"PollService/VotePoll", []string{"answerIds"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			id, answers := poll(t, g)
			send(t, g.boss, "PollService/VotePoll", with(id, object{"answerIds": answers[:2]}))
			return voted(t, g.boss, id)
		}},
		{"PollService/ChangePollVote", []string{"answerIds"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			id, answers := poll(t, g)
			send(t, g.boss, "PollService/VotePoll", with(id, object{"answerIds": answers[2:]}))
			send(t, g.boss, "PollService/ChangePollVote", with(id, object{"answerIds": answers[:2]}))
			return voted(t, g.boss, id)
		}},
	}
}

// settingTwice are the lists of what administrators set.
func settingTwice() []twice {
	var rows []twice
	for _, list := range []string{"Allow", "Block"} {
		procedure := "ModerationListService/Add" + list + "Rules"
		rows = append(rows, twice{procedure, []string{"regexs"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			admin := g.principals[adminToken]
			words := []string{"first" + strings.ToLower(list) + ".example", "second" + strings.ToLower(list) + ".example"}
			added := send(t, admin, "ModerationListService/Add"+list+"Rules", object{"regexs": words}).JSON(t)
			shown := send(t, admin, "ModerationListService/List"+list+"Rules", object{})
			send(t, admin, "ModerationListService/Delete"+list+"Rules", object{"ruleIds": valuesOf(added, "ruleId")})
			return shown, words
		}})
	}
	permissions := []string{"EDIT_USER", "BAN_USER"}
	role := func(t *testing.T, g *fixture, change func(role object)) (*apptest.Response, []string) {
		t.Helper()
		role := newRole()
		change(with(role, object{"permissions": permissions}))
		return send(t, g.principals[adminToken], "RoleService/GetRole", object{"roleId": role["roleId"]}), permissions
	}
	hook := func(t *testing.T, g *fixture, events []string) *apptest.Response {
		t.Helper()
		removeWebhook(t, g.principals[adminToken], "twice")
		return send(t, g.principals[adminToken], "WebhookService/CreateWebhook", object{
			"url": "https://hooks.example.com/", "name": "twice", "isEnabled": false, "events": events,
		})
	}
	events := []string{"post.created", "comment.created"}
	return append(rows, []twice{
		{"WebhookService/CreateWebhook", []string{"events"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			id := hook(t, g, events).String(t, "webhook.webhookId")
			return send(t, g.principals[adminToken], "WebhookService/GetWebhook", object{"webhookId": id}), events
		}},
		{"WebhookService/UpdateWebhook", []string{"events"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			id := object{"webhookId": hook(t, g, events[:1]).String(t, "webhook.webhookId")}
			send(t, g.principals[adminToken], "WebhookService/UpdateWebhook", with(id, object{"events": events}))
			return send(t, g.principals[adminToken], "WebhookService/GetWebhook", id), events
		}},
		{
			"NotificationService/UpdateNotificationSetting",
			[]string{"notifiableEvents"},
			func(t *testing.T, g *fixture) (*apptest.Response, []string) {
				t.Helper()
				modules := []string{"chat", "social"}
				setting := object{"level": "user", "notifiableEvents": []object{
					{"moduleName": modules[0], "isPushNotifiable": false}, {"moduleName": modules[1], "isPushNotifiable": false},
				}}
				by := g.user(t)
				send(t, by, "NotificationService/UpdateNotificationSetting", setting)
				shown := send(t, by, "NotificationService/GetNotificationSetting", object{"level": "user"})
				require.Equal(t, 2, strings.Count(string(shown.Body), `"isPushNotifiable":false`))
				return shown, modules
			},
		},
		{"RoleService/CreateRole", []string{"permissions"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			return role(t, g, func(r object) { send(t, g.principals[adminToken], "RoleService/CreateRole", r) })
		}},
		{"RoleService/UpdateRole", []string{"permissions"}, func(t *testing.T, g *fixture) (*apptest.Response, []string) {
			t.Helper()
			return role(t, g, func(r object) {
				send(t, g.principals[adminToken], "RoleService/CreateRole", with(r, object{"permissions": permissions[:1]}))
				send(t, g.principals[adminToken], "RoleService/UpdateRole", r)
			})
		}},
	}...)
}
