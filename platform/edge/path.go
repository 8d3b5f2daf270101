package edge

import (
	"net/url"
	"strings"
)

// restPath is the path of u as the routes and vanguard read it: still percent-encoded, so that an id with %2F stays one
// segment and is decoded once; without a trailing slash; and with colons encoded, because vanguard takes a colon in the
// last segment for a verb and finds no route.
func restPath(u *url.URL) string {
	path := u.EscapedPath()
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return strings.ReplaceAll(path, ":", "%3A")
}
