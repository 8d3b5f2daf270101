package edge

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// setETag sets the tag with which clients ask whether the response to a GET has changed. The tag is weak,
// because the same response may be sent compressed. Its hash need not resist attacks: authors could only prevent that
// others receive changes of what they wrote themselves.
func setETag(header http.Header, body []byte) (tag string) {
	tag = `W/"` + strconv.FormatUint(xxhash.Sum64(body), 36) + `"`
	header["Etag"] = []string{tag}
	header.Add("Vary", "Authorization")
	return tag
}

// hasETag reports whether the values of If-None-Match contain a tag, of which strong and weak ones are the same.
func hasETag(ifNoneMatch []string, tag string) bool {
	for _, value := range ifNoneMatch {
		for candidate := range strings.SplitSeq(value, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

// writeNotModified responds without a body to a client that has the response already.
func (w *responseWriter) writeNotModified() {
	delete(w.Header(), "Accept-Encoding") // set by connect
	delete(w.Header(), "Content-Type")
	w.WriteHeader(http.StatusNotModified)
}
