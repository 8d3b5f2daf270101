// Package room implements live rooms. A room is a record: its host, and in rooms of type coHosts also its co-hosts,
// send to an external media server, which reports events with ReportRoom.
//
// # States
//
//	idle               created; no one has sent yet
//	live               a participant sends
//	waitingReconnect   the sender was disconnected and may return
//	ended              sending is no longer possible
//	recorded           ended, with recordings
//	terminated         ended by moderation
//	error              the media server failed
//
// # Transitions
//
//	by                                   from                             to
//	CreateRoom                           -                                idle
//	report started, with a valid key     idle, waitingReconnect           live
//	report interrupted                   live                             waitingReconnect
//	report stopped                       live, waitingReconnect           ended
//	report recorded, with recordings     ended                            recorded
//	report failed                        idle, live, waitingReconnect     error
//	report terminated                    idle, live, waitingReconnect     terminated
//	StopRoom                             idle, live, waitingReconnect     ended
//	ban of the host from the network     idle, live, waitingReconnect     terminated
//
// Other transitions are refused with 400000 and change nothing. Because media servers repeat reports, a report of
// what has already happened succeeds and changes nothing: started while live, interrupted while waitingReconnect,
// stopped once ended or recorded, recorded while recorded, failed while error, terminated while terminated, and
// StopRoom once ended or recorded. The report flagged changes no state and is accepted in every state;
// if the settings of the network say that its findings end a room that is open, it is applied as terminated.
//
// Deletion is not a state: a room can be deleted in every state. After that it cannot change, and only lists of
// deleted rooms return it.
//
// # Participants
//
// The creator is the host and stays it. In a room of type coHosts, the host names co-hosts on creation. The host and
// callers with MANAGE_LIVE_STREAMING remove co-hosts and invite users, who become co-hosts when they accept (package
// invitation); co-hosts can leave. A participant whom the media server reports as sending is on the stage, until the room is not
// live any more or the participant leaves it. Each participant has a stream key of their own, which is returned to no one else.
//
// # Access
//
// The host and callers with MANAGE_LIVE_STREAMING change, stop and delete a room. Until it is part of a post, every
// caller who knows its id may see it; from then on callers who may read the post. A participant who loses access to the
// community or wall of the post, or is banned from the network, can no longer see the room there, and their key is refused. Lists return
// the rooms that the caller takes part in and those of posts; callers with VIEW_LIVE_STREAMING see all rooms.
package room
