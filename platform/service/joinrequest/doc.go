// Package joinrequest implements JoinRequestService: requests to join a community. A request is stored at the home of
// its community.
//
// # States
//
//	pending     not answered; a user has at most one pending request to a community
//	approved    the user became a member
//	rejected    a moderator rejected the request or banned the user
//	cancelled   the user cancelled the request
//
// # Transitions
//
//	from      to         by
//	-         pending    RequestJoin, if the community requires approval and the user is not invited
//	-         approved   RequestJoin otherwise: the user is a member when it returns
//	pending   approved   ApproveJoin; RequestJoin, if approval is no longer required or the user was invited;
//	                     JoinCommunity, AddMembers and AcceptInvitation, which also make the user a member
//	pending   rejected   RejectJoin; BanMembers
//	pending   cancelled  CancelJoin by the requestor
//
// Approved, rejected and cancelled are final: a new request is a new row. Answering a request that is not pending is
// 400400, and a second pending request 400315. A member whose request was approved gets that request when they
// request again.
//
// # Moderators
//
// Answering and listing requests requires ADD_COMMUNITY_USER in the community, and is 400300 otherwise. A community
// that is hidden from the caller is 400400, unless the caller is invited or has a request to it.
package joinrequest
