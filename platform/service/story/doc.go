// Package story implements the stories of communities and users.
//
// # States
//
//	state    meaning                                        visible to
//	live     in lists, by id; expiresAt is in the future    callers who may see the community or wall
//	ended    expiresAt has passed; not in lists             callers with VIEW_STORY and administrators, who also list ended
//	                                                        stories with isExpired=true and delete them; 400400 for others
//	deleted  not in lists                                   callers with VIEW_STORY and administrators, with isDeleted;
//	                                                        400400 for others
//	removed  no row, comments, reactions, flags or views    no one
//
// # Transitions
//
//	from           to       by
//	-              live     CreateStory; expiresAt is createdAt plus the network's storyExpiryTimeMinutes at that time
//	live           ended    time; changing the setting does not change existing stories
//	live, ended    deleted  DeleteStory by the author or a caller who manages the stories of the community or all stories;
//	                        for an ended story the caller must also be able to see it
//	live, ended    removed  DeleteStory with permanent=true, by the same callers
//	deleted        removed  DeleteStory with permanent=true, by those of them who may see the story
//	ended, deleted removed  Sweep, thirty days after expiresAt
//
// No transition is reversible. Only live stories take flags, comments, reactions and views, and none of these changes
// the state: flags never hide a story. Comments are readable only while their story is.
//
// # Counts
//
// The story count of a target includes live and ended stories; deletion and Sweep reduce it. The counts of a story's
// comments, reactions, impressions and reach do not change when it ends.
//
// # Seen stories
//
// A view (analytics activity `view` of a story) moves the marker of the user and the target to the end of that story.
// Stories of the target that end later are unseen, because clients show a target's stories in the order in which they
// end.
package story
