// Package room holds live rooms as records: a host, and in rooms of type coHosts also co-hosts, send to a media server, which is
// outside and reports what happens (ReportRoom).
//
// # States
//
//	idle               made; nobody has sent yet
//	live               somebody sends
//	waitingReconnect   the sender is gone, and may come back
//	ended              over: nobody can send any more
//	recorded           over, and there are recordings
//	terminated         over, because moderation ended it
//	error              the media server gave up
//
// # Transitions
//
//	by                                   from                             to
//	CreateRoom                           -                                idle
//	report started, with a right key     idle, waitingReconnect           live
//	report interrupted                   live                             waitingReconnect
//	report stopped                       live, waitingReconnect           ended
//	report recorded, with recordings     ended                            recorded
//	report failed                        idle, live, waitingReconnect     error
//	report terminated                    idle, live, waitingReconnect     terminated
//	StopRoom                             idle, live, waitingReconnect     ended
//
// Every other transition is refused with 400000, and changes nothing; but a report of what has happened already is a success that
// changes nothing, because media servers repeat themselves: started while live, interrupted while waitingReconnect, stopped once
// ended or recorded, recorded while recorded, failed while error, terminated while terminated, and StopRoom once ended or
// recorded. The report flagged changes no state, and is taken in any.
//
// Deleting is no state: a room is deleted in any, and then neither changes nor shows any more, but in lists of deleted ones.
//
// # Participants
//
// The creator is the host, and stays it. In a room of type coHosts they name a co-host when they make it. The host, and those with
// MANAGE_LIVE_STREAMING, take a co-host out and invite others, who become co-hosts when they accept (package invitation); a co-host
// leaves. Each participant has a key of their own to send with, which is told to nobody else.
//
// # Who
//
// The host and those with MANAGE_LIVE_STREAMING change, stop and delete a room. Until a post carries it, it is for whoever knows
// its id, as a poll is; from then on for its participants and for those who may read the post. Lists hold the rooms that the
// caller takes part in and those of posts; those with VIEW_LIVE_STREAMING see all.
package room
