package presence

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestSettingAnswer checks since when the presence of a user has been shown.
func TestSettingAnswer(t *testing.T) {
	t.Parallel()
	created, updated, changed := servicetest.Noon, servicetest.Noon.Add(time.Minute), servicetest.Noon.Add(time.Hour)
	u := people.User{CreatedAt: created, UpdatedAt: updated}
	require.Equal(t, &plazav1.UserPresenceSetting{Enabled: true, EnabledAt: timestamppb.New(created)}, settingOf(u))
	u.PresenceChangedAt = &changed
	require.Equal(t, &plazav1.UserPresenceSetting{Enabled: true, EnabledAt: timestamppb.New(changed)}, settingOf(u))
	u.IsPresenceHidden = true
	require.Equal(t, &plazav1.UserPresenceSetting{}, settingOf(u))
}

// TestViewerAnswer checks that viewers are answered by public id with the time when they joined, and that unknown ones are left out.
func TestViewerAnswer(t *testing.T) {
	t.Parallel()
	joined, until := servicetest.Noon, servicetest.Noon.Add(time.Minute)
	present := []people.Presence{
		{Place: "room", UserID: "unknown", JoinedAt: until},
		{Place: "room", UserID: "internal", JoinedAt: joined, Until: until},
	}
	require.Equal(t, []*plazav1.RoomViewer{{UserId: "public", JoinedAt: timestamppb.New(joined)}},
		viewers(present, []people.User{{ID: "internal", PublicID: "public"}}))
}
