package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// contentPlace is where content is written.
type contentPlace struct {
	targetType, targetID string
	cleaner              *apptest.Client // who clears flags
	cleans               audience        // who receives that
	teller               *apptest.Client // who may add stories and events; nil where there are none
}

func (p contentPlace) target() object {
	return object{"targetType": p.targetType, "targetId": p.targetID}
}

// flags calls an operation on the flags of an object.
func (w *eventWalk) flags(t *testing.T, by *apptest.Client, verb, noun, id string) func() {
	t.Helper()
	what := map[string]string{"post": "Post", "comment": "Comment", "story": "Story", "message": "Message"}[noun]
	procedure := what + "Service/" + verb + what
	if verb == "Clear" {
		procedure += "Flags"
	}
	return func() { w.call(t, by, procedure, object{noun + "Id": id}) }
}

// flagging are the events about flags of an object, which only those receive who flag, unflag and clear: reporters are anonymous.
func (w *eventWalk) flagging(t *testing.T, p contentPlace, noun, id, cleared string) {
	t.Helper()
	reporter := w.users[member]
	w.happens(t, w.flags(t, reporter, "Flag", noun, id), event{noun + ".flagged", only(member)})
	w.happens(t, w.flags(t, reporter, "Unflag", noun, id), event{noun + ".unflagged", only(member)})
	w.happens(t, w.flags(t, reporter, "Flag", noun, id), event{noun + ".flagged", only(member)})
	w.happens(t, w.flags(t, p.cleaner, "Clear", noun, id), event{cleared, p.cleans})
}

// hide has two users flag an object, which hides it from users, the second of the two included.
func (w *eventWalk) hide(t *testing.T, noun, id string, sees audience) {
	t.Helper()
	w.happens(t, w.flags(t, w.users[member], "Flag", noun, id), event{noun + ".flagged", only(member)})
	w.happens(t, w.flags(t, w.users[mutedUser], "Flag", noun, id), event{noun + ".flagged", only()})
	for _, l := range w.present {
		require.False(t, l.who == newcomer && sees(l), "the %s is hidden", noun)
	}
}

// reacting are the events about the reaction of a member to an object.
func (w *eventWalk) reacting(t *testing.T, noun, id, added, removed string, to audience) {
	t.Helper()
	body := object{"referenceType": noun, "referenceId": id, "reactionName": "like"}
	w.happens(t, func() { w.call(t, w.users[member], "ReactionService/AddReaction", body) }, event{added, to})
	w.happens(t, func() { w.call(t, w.users[member], "ReactionService/RemoveReaction", body) }, event{removed, to})
}

// walkPosts are the events about a post that all readers of the place see, and about one that flags hide.
func walkPosts(t *testing.T, w *eventWalk, p contentPlace) {
	t.Helper()
	var id string
	by, sees := w.users[author], readers(t, "/api/v3/posts/", &id)
	editor := by // while it is hidden, who clears flags
	edit := func() {
		w.call(t, editor, "PostService/UpdatePost", object{"postId": id, "data": object{"text": "edited"}})
	}
	remove := func() { w.call(t, editor, "PostService/DeletePost", object{"postId": id}) }
	for _, hidden := range []bool{false, true} {
		w.happens(t, func() { id = newPost(t, by, p.targetID, p.target()) }, event{"post.created", sees})
		w.reacting(t, "post", id, "post.addReaction", "post.removeReaction", sees)
		if hidden {
			w.hide(t, "post", id, sees)
			editor = p.cleaner
		} else {
			w.flagging(t, p, "post", id, "post.flagsCleared")
		}
		w.happens(t, edit, event{"post.updated", sees})
		w.happens(t, remove, event{"post.deleted", sees})
	}
}

// walkComments are the events about comments.
func walkComments(t *testing.T, w *eventWalk, p contentPlace) {
	t.Helper()
	var id, post string
	w.happens(t, func() { post = newPost(t, w.users[author], p.targetID, p.target()) },
		event{"post.created", readers(t, "/api/v3/posts/", &post)})
	by, sees := w.users[author], readers(t, commentsPath+"/", &id)
	editor := by
	edit := func() {
		w.call(t, editor, "CommentService/UpdateComment", object{"commentId": id, "data": object{"text": "edited"}})
	}
	remove := func() { w.call(t, editor, "CommentService/DeleteComment", object{"commentId": id}) }
	for _, hidden := range []bool{false, true} {
		w.happens(t, func() { id = newComment(t, by, post) }, event{"comment.created", sees})
		w.reacting(t, "comment", id, "comment.addReaction", "comment.removeReaction", sees)
		if hidden {
			w.hide(t, "comment", id, sees)
			editor = p.cleaner
		} else {
			w.flagging(t, p, "comment", id, "comment.flagsCleared")
		}
		w.happens(t, edit, event{"comment.updated", sees})
		w.happens(t, remove, event{"comment.deleted", sees})
	}
}

// walkStories are the events about stories. Those about a hidden story are for no user, because an event shows its object as users see it
// who are neither its author nor moderators.
func walkStories(t *testing.T, w *eventWalk, p contentPlace) {
	t.Helper()
	var id string
	sees := readers(t, storiesPath+"/", &id)
	create := func() { id = newStory(t, p.teller, p.targetID, object{"targetType": p.targetType}) }
	w.happens(t, create, event{"story.created", sees})
	w.reacting(t, "story", id, "story.reactionAdded", "story.reactionRemoved", sees)
	w.flagging(t, p, "story", id, "story.flagsCleared")
	remove := func() { w.call(t, p.teller, "StoryService/DeleteStory", object{"storyId": id}) }
	w.happens(t, remove, event{"story.deleted", sees})
	w.happens(t, create, event{"story.created", sees})
	w.hide(t, "story", id, sees)
	like := object{"referenceType": "story", "referenceId": id, "reactionName": "like"}
	w.happens(t, func() { w.call(t, p.teller, "ReactionService/AddReaction", like) }, event{"story.reactionAdded", only()})
}

// walkMeetings are the events about what users attend.
func walkMeetings(t *testing.T, w *eventWalk, p contentPlace) {
	t.Helper()
	var id string
	sees := readers(t, eventsPath+"/", &id)
	body := with(eventIn(p.targetID), object{"originType": p.targetType})
	answer := func(operation, status string) func() {
		return func() {
			w.call(t, w.users[member], "EventService/"+operation, object{"eventId": id, "status": status})
		}
	}
	created, answered, declined := []event{{"event.created", sees}}, []event{{"event.rsvp.created", sees}},
		[]event{{"event.rsvp.updated", sees}}
	if p.targetType == "community" { // the community where an event is discussed tells its members
		created = append(created, event{"community.created", only(owner)})
		answered, declined = append(answered, event{"community.joined", only(member)}), append(declined, event{"community.left", only(member)})
	}
	w.happens(t, func() { id = newEvent(t, p.teller, body) }, created...)
	w.happens(t, func() { w.call(t, p.teller, "EventService/UpdateEvent", object{"eventId": id, "title": "new"}) },
		event{"event.updated", sees})
	w.happens(t, answer("CreateEventRsvp", "going"), answered...)
	w.happens(t, answer("UpdateEventRsvp", "not_going"), declined...)
	w.happens(t, func() { w.call(t, p.teller, "EventService/DeleteEvent", object{"eventId": id}) }, event{"event.deleted", sees})
}

// walkReview are the events about posts and comments that wait for approval.
func walkReview(t *testing.T, w *eventWalk, _ bool) {
	t.Helper()
	community := w.enterCommunity(t, true, object{"needApprovalOnPostCreation": true})
	for verb, name := range map[string]string{"ApprovePost": "post.approved", "DeclinePost": "post.declined"} {
		var id string
		sees := readers(t, "/api/v3/posts/", &id)
		w.happens(t, func() { id = newPost(t, w.users[author], community) }, event{"post.created", sees})
		w.happens(t, func() { w.call(t, w.users[moderator], "PostService/"+verb, object{"postId": id}) }, event{name, sees})
	}
	community = w.enterCommunity(t, true, object{"needApprovalOnCommentCreation": true})
	var post string
	w.happens(t, func() { post = newPost(t, w.users[moderator], community) }, event{"post.created", readers(t, "/api/v3/posts/", &post)})
	for verb, name := range map[string]string{"ApproveComment": "comment.created", "DeclineComment": "comment.updated"} {
		var id string
		sees := readers(t, commentsPath+"/", &id)
		w.happens(t, func() { id = newComment(t, w.users[author], post) }, event{"comment.created", sees})
		w.happens(t, func() { w.call(t, w.users[moderator], "CommentService/"+verb, object{"commentId": id}) }, event{name, sees})
	}
}

// walkWall are the events about content on the wall of the author, who blocks a user. Private walls are for followers.
func walkWall(t *testing.T, w *eventWalk, public bool) {
	t.Helper()
	by := w.users[author]
	w.call(t, by, "FollowService/UnblockUser", object{"userId": w.users[blockedUser].UserID})
	follow(t, w.users[member], by)
	follow(t, w.users[mutedUser], by)
	defer w.setWalls(t, "public")
	n := w.n.NetworkID
	sees := readersOf(t, postsPath+"?targetType=user&targetId="+by.UserID)
	w.enter(t, place{
		topics: map[string]audience{
			n + "/social/user/" + by.InternalID + "/#": sees,
			n + "/user/" + by.InternalID + "/#":        readersOf(t, "/api/v3/users/"+by.UserID),
		},
		settles: func() {
			block(t, by, w.users[blockedUser])
			w.awaitRefusal(t, blockedUser, n+"/social/user/"+by.InternalID+"/post/+", n+"/user/"+by.InternalID)
			if !public {
				w.setWalls(t, "private")
				w.awaitRefusal(t, stranger, n+"/social/user/"+by.InternalID+"/post/+")
			}
		},
	})
	p := contentPlace{targetType: "user", targetID: by.UserID, cleaner: w.n.Admin(region.EU), cleans: only(), teller: by}
	walkPosts(t, w, p)
	walkComments(t, w, p)
	walkStories(t, w, p)
	walkMeetings(t, w, p)
	rename := func() { w.call(t, by, "UserService/UpdateUser", object{"userId": by.UserID, "displayName": "new"}) }
	w.happens(t, rename, event{"user.updated", readersOf(t, "/api/v3/users/"+by.UserID)})
}

// setWalls makes walls private or public.
func (w *eventWalk) setWalls(t *testing.T, value string) {
	t.Helper()
	w.n.Admin(region.EU).Do(t, http.MethodPut, socialPath, object{"userPrivacySetting": value}).OK(t)
}

// walkClientContent are the events about posts on content of the client's, which all users read.
func walkClientContent(t *testing.T, w *eventWalk, _ bool) {
	t.Helper()
	p := contentPlace{targetType: "content", targetID: "article-7", cleaner: w.n.Admin(region.EU), cleans: only()}
	made := w.users[author].Do(t, http.MethodPost, postsPath, with(p.target(), object{"data": object{"text": "first"}})).OK(t)
	path := made.String(t, "posts.0.path")
	w.enter(t, place{topics: map[string]audience{topicAbove(path, "/post/") + "/#": readersOf(t, contentFeedPath)}})
	walkPosts(t, w, p)
	walkComments(t, w, p)
}
