package view

import (
	"net/url"
	"strings"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Media says where the network's media server is: addresses without a slash at the end, each empty where there is none.
type Media struct {
	IngestURL   string // such as rtmp://ingest.example.com/live
	PlaybackURL string // such as https://play.example.com/live
}

// Ingest is where somebody sends to a stream or room: the playback key names it, the ingest key lets in. Nil without a server.
func (m Media) Ingest(playbackKey, ingestKey string, secure bool) *plazav1.StreamUrl {
	base := m.IngestURL
	if rest, plain := strings.CutPrefix(base, "rtmp://"); plain && secure {
		base = "rtmps://" + rest
	}
	return address(base, playbackKey, "key="+url.QueryEscape(ingestKey))
}

// Watch is where to watch a stream; nil without a server.
func (m Media) Watch(playbackKey string) *plazav1.StreamWatcherUrl {
	if m.IngestURL == "" && m.PlaybackURL == "" {
		return nil
	}
	return &plazav1.StreamWatcherUrl{
		Flv:  address(m.PlaybackURL, playbackKey+".flv", ""),
		Hls:  address(m.PlaybackURL, playbackKey+".m3u8", ""),
		Rtmp: address(m.IngestURL, playbackKey, ""),
	}
}

// address is base, a name below it and a query, with its parts; nil without a base.
func address(base, name, query string) *plazav1.StreamUrl {
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
