package render

import (
	"strconv"
	"strings"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// MediaKey is the key of the Secret with the media server's key.
const MediaKey = "media-key"

// serverVariables returns the variables of the typed settings that the spec sets.
func serverVariables(s *v1alpha1.Server) environment {
	var out environment
	if s == nil {
		return out
	}
	out.set("PLAZA_CORS_ORIGINS", strings.Join(s.CORSOrigins, ","))
	out.set("PLAZA_WEBHOOK_NETWORKS", strings.Join(s.WebhookNetworks, ","))
	if m := s.Media; m != nil {
		out.set("PLAZA_MEDIA_INGEST_URL", m.IngestURL)
		out.set("PLAZA_MEDIA_PLAYBACK_URL", m.PlaybackURL)
		if m.KeySecretRef != nil {
			out.secret("PLAZA_MEDIA_KEY", *m.KeySecretRef, MediaKey)
		}
	}
	if u := s.Uploads; u != nil {
		out.set("PLAZA_MAX_FILE_BYTES", string(u.MaxFileSize))
		out.set("PLAZA_DAILY_UPLOAD_BYTES", string(u.DailySize))
		if u.DailyFiles > 0 {
			out.set("PLAZA_DAILY_UPLOADS", strconv.Itoa(int(u.DailyFiles)))
		}
	}
	if t := s.Tokens; t != nil {
		out.set("PLAZA_ACCESS_TOKEN_TTL", string(t.AccessLifetime))
		out.set("PLAZA_AUTH_TOKEN_TTL", string(t.AuthLifetime))
	}
	return out
}
