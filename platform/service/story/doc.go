// Package story holds the stories of communities and users.
//
// # States
//
//	state    how it shows                                   who sees it
//	live     in lists, by id; expiresAt lies ahead          whoever sees its community or wall
//	ended    expiresAt has passed                           nobody: 400400, and in no list. Who may view stories
//	                                                        everywhere (VIEW_STORY, administrators) lists them with
//	                                                        isExpired=true, gets and deletes them
//	deleted  in no list                                     nobody: 400400. Who may view stories everywhere gets it, with
//	                                                        isDeleted, and deletes it for good
//	gone     no row of it, its comments, reactions, flags   nobody
//	         and views is left
//
// # Transitions
//
//	from           to       by
//	-              live     CreateStory; expiresAt is createdAt and the network's storyExpiryTimeMinutes of that moment
//	live           ended    the clock alone; a change of the setting moves no story that is there
//	live, ended    deleted  DeleteStory: the author, who manages the stories of the community, who manages all stories; one
//	                        that ended, those of them who may view it
//	live, ended    gone     DeleteStory with permanent=true, by the same
//	deleted        gone     the same, by those of them who may view it
//	ended, deleted gone     Sweep, thirty days after expiresAt
//
// There is no way back. Flags, comments, reactions and views are for live stories, and change the state of none: a flag never
// hides a story. Its comments live and end with it, as those of a post do: deleted, they are not found; gone, they are gone.
//
// # What is counted
//
// The count of a target's stories holds those that are live and those that ended; deletion takes them off, and so does Sweep.
// A story's comments, reactions, impressions and reach stay as they are when it ends.
//
// # Who has seen what
//
// A view (analytics activity `view` of a story) moves the mark of the user and the target up to the end of that story.
// Stories of the target that end later are unseen: clients view a target's stories in the order in which they end.
package story
