package edge

import (
	"net/http"
	"time"

	"github.com/rs/cors"
)

// preflightAge is how long browsers may cache a preflight response.
const preflightAge = 2 * time.Hour

// newCORS allows pages of the given origins, or of all origins if none are given. The API does not use cookies, so
// credentials are not allowed.
func newCORS(origins []string) *cors.Cors {
	if len(origins) == 0 {
		origins = []string{"*"}
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		},
		AllowedHeaders: []string{
			"Authorization", "X-API-Key", "Set-Access-Token-Cookie", "Content-Type", "Accept", "Accept-Language",
			"Preserve-Edited-At", "Range", "Last-Event-ID", "Cache-Control", "If-None-Match", "Idempotency-Key", HeaderRequestID,
			"Connect-Protocol-Version", "Connect-Timeout-Ms", "Connect-Accept-Encoding", "Connect-Content-Encoding",
			"Grpc-Timeout", "Grpc-Accept-Encoding", "Grpc-Encoding", "X-Grpc-Web", "X-User-Agent",
		},
		ExposedHeaders: []string{
			HeaderRequestID, "Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin",
			"Connect-Content-Encoding", "Grpc-Encoding", "Accept-Ranges", "Content-Disposition", "Content-Range", "Etag",
			"Deprecation", "Sunset", headerLimit, headerPolicy, headerRemaining, headerReset, headerRetryAfter, "Idempotency-Replayed",
			HeaderMissingHomes,
		},
		MaxAge:               int(preflightAge / time.Second),
		OptionsSuccessStatus: http.StatusNoContent,
	})
}
