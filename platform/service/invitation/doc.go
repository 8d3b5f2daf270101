// Package invitation holds the invitations of users: to become a member of a community (communityMemberInvite), or a co-host of a
// room (livestreamCohostInvite). An invitation lives with its target.
//
// # States
//
//	pending     the invited user has not answered
//	approved    they accepted; or became a member of the community in another way
//	rejected    they turned it down
//	cancelled   it was taken back; or they were banned from the community
//
// # Transitions
//
//	from      to         by
//	-         pending    CreateInvitations; AddMembers where the network's membershipAcceptance is `invitation`
//	pending   approved   AcceptInvitation by who is invited: they are a member, or a co-host, when it returns; JoinCommunity,
//	                     RequestJoin, ApproveJoin and AddMembers, which make the user a member too
//	pending   rejected   RejectInvitation by who is invited
//	pending   cancelled  CancelInvitation by who made it, or by who may invite there; BanMembers
//
// The same call again changes nothing and succeeds; another one is refused with 400000. A user has one pending invitation to a
// target at a time: who is invited again keeps it. After its end they can be invited anew.
//
// # Who invites
//
// To a community those who may add members to it (ADD_COMMUNITY_USER); to a room, which has to be of type coHosts and not over,
// its host and those with MANAGE_LIVE_STREAMING. The same read the lists; those of a room its co-hosts too.
package invitation
