package conformance

import "testing"

func linkPreviewRows() []row {
	refused := func(*testing.T, *fixture) object { return object{"url": "http://127.0.0.1/"} } // without a connection
	return []row{{procedure: "LinkPreviewService/GetLinkPreview", request: refused, want: usersOnly}}
}
