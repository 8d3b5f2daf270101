package conformance

import "testing"

func reactionRows() []row {
	react := func(private bool) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return with(aPost("referenceId", private)(t, g), object{"referenceType": "post", "reactionName": "like"})
		}
	}
	list := func(private bool) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return with(aPost("referenceId", private)(t, g), object{"referenceType": "post"})
		}
	}
	live := func(private bool) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			post := aPost("referencePublicId", private)(t, g)
			return object{"reactions": []object{with(post, object{"reactionName": "like"})}}
		}
	}
	return []row{
		{procedure: "ReactionService/CreateLiveReactions", request: live(false), want: notBanned},
		{procedure: "ReactionService/CreateLiveReactions", name: "private", request: live(true), want: codesFor(400301, 0, 0, 400304, 400300)},
		{procedure: "ReactionService/AddReaction", request: react(false), want: notBanned},
		{procedure: "ReactionService/AddReaction", name: "private", request: react(true), want: codesFor(400301, 0, 0, 400304, 400300)},
		{procedure: "ReactionService/RemoveReaction", request: react(false), want: codesFor(400400, 400400, 400400, 400400, 400300)},
		{procedure: "ReactionService/ListReactions", request: list(false), want: everyone},
		{procedure: "ReactionService/ListReactions", name: "private", request: list(true), want: communityReaders},
		{procedure: "ReactionService/ListWrappedReactions", request: list(false), want: everyone},
		{procedure: "ReactionService/ListWrappedReactions", name: "private", request: list(true), want: communityReaders},
	}
}
