package edge

import "net/http"

// Pages serves the API document and the pages that show it.
type Pages interface {
	http.Handler
	// Handles reports whether path belongs to the pages.
	Handles(path string) bool
}

// servePage serves GET and HEAD.
func (e *edge) servePage(w *responseWriter, request *http.Request) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		w.rejectMethod(request, "GET, HEAD")
		return
	}
	e.pages.ServeHTTP(w, request)
}
