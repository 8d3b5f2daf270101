package view

import (
	"net/url"
	"strings"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Media holds the base URLs of the network's media server, without a trailing slash; empty without a server.
type Media struct {
	IngestURL   string // such as rtmp://ingest.example.com/live
	PlaybackURL string // such as https://play.example.com/live
}

// Ingest returns the address to send a stream or a room to. The playback key identifies it, the ingest key authorizes
// the sender. It is nil without a server.
func (m Media) Ingest(playbackKey, ingestKey string, secure bool) *plazav1.StreamUrl {
	base := m.IngestURL
	if rest, plain := strings.CutPrefix(base, "rtmp://"); plain && secure {
		base = "rtmps://" + rest
	}
	return streamURL(base, playbackKey, "key="+url.QueryEscape(ingestKey))
}

// Watch returns the addresses to watch a stream at; nil without a server.
func (m Media) Watch(playbackKey string) *plazav1.StreamWatcherUrl {
	if m.IngestURL == "" && m.PlaybackURL == "" {
		return nil
	}
	return &plazav1.StreamWatcherUrl{
		Flv:  streamURL(m.PlaybackURL, playbackKey+".flv", ""),
		Hls:  streamURL(m.PlaybackURL, playbackKey+".m3u8", ""),
		Rtmp: streamURL(m.IngestURL, playbackKey, ""),
	}
}

// streamURL returns the URL of a name below base, with its components; nil without a base.
func streamURL(base, name, query string) *plazav1.StreamUrl {
	if base == "" {
		return nil
	}
	whole := base + "/" + name
	if query != "" {
		whole += "?" + query
	}
	parts := &plazav1.StreamUrlComponents{StreamName: name, Query: query}
	scheme, rest, _ := strings.Cut(base, "://")
	host, app, _ := strings.Cut(rest, "/")
	parts.Origin, parts.AppName = scheme+"://"+host, app
	return &plazav1.StreamUrl{Url: whole, Components: parts}
}
