// Package invitation implements InvitationService: invitations to become a member of a community
// (communityMemberInvite) or a co-host of a room (livestreamCohostInvite). An invitation is stored at the home of its
// target.
//
// # States
//
//	pending     not answered
//	approved    the user accepted it, or became a member of the community in another way
//	rejected    the user rejected it
//	cancelled   it was cancelled, or the user was banned from the community
//
// # Transitions
//
//	from      to         by
//	-         pending    CreateInvitations; AddMembers if the network setting membershipAcceptance is `invitation`
//	pending   approved   AcceptInvitation by the invited user, who is a member or co-host when it returns;
//	                     JoinCommunity, RequestJoin, ApproveJoin and AddMembers, which also make the user a member
//	pending   rejected   RejectInvitation by the invited user
//	pending   cancelled  CancelInvitation by the inviter, or by a user who may invite to the target; BanMembers
//
// ResendInvitation leaves an invitation pending, and notifies the invited user again. Its callers are those of
// CancelInvitation.
//
// Calls are idempotent: repeating one changes nothing and succeeds. Any other answer to an invitation that is not
// pending is 400000. A user has at most one pending invitation to a target, which a second invitation returns.
//
// # Permissions
//
// Inviting to a community requires ADD_COMMUNITY_USER in it. Inviting to a room, which must be of type coHosts and
// not have ended, requires to be its host or MANAGE_LIVE_STREAMING. The same callers list the invitations; co-hosts
// also list those of their room.
package invitation
