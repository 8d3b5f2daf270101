package edge

import (
	"net/http"

	"github.com/plaza-social/plaza/platform/fail"
)

// Pages are what people read: the API document, and the page that shows it. They are no operations, and pass neither
// vanguard nor connect.
type Pages interface {
	http.Handler
	// Handles reports whether a path is one of theirs.
	Handles(path string) bool
}

// servePage answers GET and HEAD.
func (e *edge) servePage(ex *exchange, request *http.Request) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		ex.Header().Set("Allow", "GET, HEAD")
		ex.refuseUnread(request, refusal{Error: fail.BadRequest(), status: http.StatusMethodNotAllowed})
		return
	}
	e.pages.ServeHTTP(ex, request)
}
