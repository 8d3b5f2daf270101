// Package videostreaming implements live video streams. A stream is a record: the media goes to an external media
// server, which receives what a streamer sends to the stream's streamerUrl and reports events with
// ReportVideoStreaming.
//
// # States
//
//	idle       created; nothing was sent yet
//	live       the streamer sends
//	ended      sending is no longer possible
//	recorded   ended, with recordings
//	error      the media server failed
//
// # Transitions
//
//	by                                   from          to
//	CreateVideoStreaming                 -             idle
//	report started, with the valid key   idle          live
//	report stopped                       live          ended
//	report recorded, with recordings     ended         recorded
//	report failed                        idle, live    error
//	report terminated                    idle, live    ended
//	DeleteStreamingUrl                   idle, live    ended
//	ban of the creator from the network  idle, live    ended
//
// Other transitions are refused with 400000 and change nothing. Because media servers repeat reports, a report of
// what has already happened succeeds and changes nothing: started while live, stopped and terminated once ended or
// recorded, recorded while recorded, failed while error, and DeleteStreamingUrl once ended or recorded. The report
// flagged changes no state and is accepted in every state; if the settings of the network say that its findings end a stream
// that is idle or live, it is applied as terminated.
//
// Deletion is not a state: a stream can be deleted in every state. After that it cannot change and is not returned.
//
// # Access
//
// Only the creator of a stream learns where to send to; administrators do not. The creator and callers with
// MANAGE_LIVE_STREAMING change, end and delete it. Until it is part of a post, every caller who knows its id may see
// it; from then on callers who may read the post. Lists return the caller's own streams and those of posts; callers
// with VIEW_LIVE_STREAMING see all streams. Who changes a stream also bans viewers: to them the stream does not exist any
// more, and posts show it without the addresses to watch it at.
package videostreaming
