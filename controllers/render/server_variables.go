package render

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// MediaKey is the key of the Secret with the media server's key.
const MediaKey = "media-key"

// serverVariables returns the variables of the typed settings that the spec sets.
func serverVariables(s *v1alpha1.Server) []corev1.EnvVar {
	if s == nil {
		return nil
	}
	var out []corev1.EnvVar
	set := func(name, value string) {
		if value != "" {
			out = append(out, corev1.EnvVar{Name: name, Value: value})
		}
	}
	set("PLAZA_CORS_ORIGINS", strings.Join(s.CORSOrigins, ","))
	set("PLAZA_WEBHOOK_NETWORKS", strings.Join(s.WebhookNetworks, ","))
	if m := s.Media; m != nil {
		set("PLAZA_MEDIA_INGEST_URL", m.IngestURL)
		set("PLAZA_MEDIA_PLAYBACK_URL", m.PlaybackURL)
		if m.KeySecretRef != nil {
			out = append(out, secretVariable("PLAZA_MEDIA_KEY", *m.KeySecretRef, MediaKey))
		}
	}
	if u := s.Uploads; u != nil {
		set("PLAZA_MAX_FILE_BYTES", string(u.MaxFileSize))
		set("PLAZA_DAILY_UPLOAD_BYTES", string(u.DailySize))
		if u.DailyFiles > 0 {
			set("PLAZA_DAILY_UPLOADS", strconv.Itoa(int(u.DailyFiles)))
		}
	}
	if t := s.Tokens; t != nil {
		set("PLAZA_ACCESS_TOKEN_TTL", string(t.AccessLifetime))
		set("PLAZA_AUTH_TOKEN_TTL", string(t.AuthLifetime))
	}
	return out
}
