// Package videostream holds live streams as records. The media itself is a media server's, outside: it takes in what a streamer
// sends to the stream's streamerUrl, and reports what happens (ReportVideoStreaming).
//
// # States
//
//	idle       made; nothing was sent yet
//	live       the streamer sends
//	ended      over: nothing can be sent any more
//	recorded   over, and there are recordings
//	error      the media server gave up
//
// # Transitions
//
//	by                                   from          to
//	CreateVideoStreaming                 -             idle
//	report started, with the right key   idle          live
//	report stopped                       live          ended
//	report recorded, with recordings     ended         recorded
//	report failed                        idle, live    error
//	report terminated                    idle, live    ended
//	DeleteStreamingUrl                   idle, live    ended
//
// Every other transition is refused with 400000, and changes nothing; but a report of what has happened already is a success that
// changes nothing, because media servers repeat themselves: started while live, stopped and terminated once ended or recorded,
// recorded while recorded, failed while error, and DeleteStreamingUrl once ended or recorded. The report flagged changes no state,
// and is taken in any.
//
// Deleting is no state: a stream is deleted in any, and then neither changes nor shows any more.
//
// # Who
//
// A stream is its creator's: it says where to send to nobody else, not to administrators either. Its creator and those with
// MANAGE_LIVE_STREAMING change, end and delete it. Until a post carries it, it is for whoever knows its id, as a poll is; from
// then on for those who may read the post. Lists hold the caller's own streams and those of posts; those with
// VIEW_LIVE_STREAMING see all.
package videostream
