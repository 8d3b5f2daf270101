// Package joinrequest holds the requests to join a community. A request lives with its community.
//
// # States
//
//	pending     nobody has answered; at most one of a user to a community
//	approved    the user became a member by it
//	rejected    a moderator turned it down, or the user was banned
//	cancelled   the user took it back
//
// # Transitions
//
//	from      to         by
//	-         pending    RequestJoin, where a moderator decides and the user is not invited
//	-         approved   RequestJoin elsewhere: the user is a member when it returns
//	pending   approved   ApproveJoin; RequestJoin once nobody decides any more or the user is invited; JoinCommunity, AddMembers and
//	                     AcceptInvitation, which make the user a member too
//	pending   rejected   RejectJoin; BanMembers
//	pending   cancelled  CancelJoin by who asked
//
// What was approved, rejected or cancelled stays so: who asks again has a new request. An answer to a request that is not pending is
// 400400, and a second pending request 400315; a request once approved is the answer to a member who asks again.
//
// # Who decides
//
// Those who may add members to the community (ADD_COMMUNITY_USER); anybody else is 400300. A community that is hidden from the caller is
// 400400 to them, as one that there is not, unless they are invited or have a request to it from before.
package joinrequest
