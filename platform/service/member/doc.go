// Package member holds who belongs to a community, and with which roles. A membership lives with its community; the user's home has a copy.
//
// # States
//
// What a client reads as communityMembership, and beside it as notMemberReason:
//
//	none     no member. notMemberReason is neverJoined; left or removed where there was a membership, which has no roles any more
//	member   belongs to the community, with at least the roles that make a member
//	banned   no member, and cannot become one
//
// # Transitions
//
//	from            to      by
//	-               member  CreateCommunity: its creator, who moderates it, and the users whom it names
//	none            member  JoinCommunity and RequestJoin, where nobody decides; ApproveJoin; AddMembers; AcceptInvitation
//	member          none    LeaveCommunity (left); RemoveMembers (removed)
//	none, member    banned  BanMembers
//	banned          none    UnbanMembers (removed)
//
// The same call again changes nothing and succeeds. Whoever is banned is 400304 to every way to become a member. A pending join request
// ends with the membership that it waited for, and with a ban.
//
// # Who moderates
//
// AddMemberRoles and RemoveMemberRoles change the roles of members and no state. As long as a community has other members, the last
// moderator cannot leave, be removed or lose the role; only those who moderate the whole network ban the last one.
package member
