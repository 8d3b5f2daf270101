// Package member implements MemberService: who belongs to a community, and with which roles. A membership is stored
// at the home of its community; the user's home has a copy.
//
// # States
//
// Clients see the state as communityMembership, and why a user is not a member as notMemberReason:
//
//	none     not a member. notMemberReason is neverJoined, or left or removed after a membership. No roles
//	member   a member with at least the roles of a member
//	banned   not a member, and cannot become one
//
// # Transitions
//
//	from            to      by
//	-               member  CreateCommunity, for the creator, who becomes a moderator, and the users in the request
//	none            member  JoinCommunity and RequestJoin in communities without join approval; ApproveJoin;
//	                        AddMembers; AcceptInvitation
//	member          none    LeaveCommunity (left); RemoveMembers (removed)
//	none, member    banned  BanMembers
//	banned          none    UnbanMembers (removed)
//
// Calls are idempotent: repeating one changes nothing and succeeds. A banned user gets 400304 for every way to become
// a member. A pending join request ends when its user becomes a member or is banned.
//
// # Moderators
//
// AddMemberRoles and RemoveMemberRoles change the roles of members, but no state. Removing, banning and changing roles
// require authority over the user (auth.Authority): moderators do not act on the creator, on each other or on holders
// of network roles. While a community has other
// members, its last moderator cannot leave, be removed or lose the role. Only moderators of the whole network can ban
// the last moderator.
package member
