package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMediaStories creates stories with images and videos. Their files are in the answer and must exist and have the
// right type.
func TestMediaStories(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	image := text(upload(t, club.boss, "image", "a.png", pngOf(t, 4, 3)), "fileId")
	video := text(upload(t, club.boss, "video", "a.mp4", []byte(tinyVideo)), "fileId")
	body := func(dataType string, data object) object {
		return textStory(club.id, object{"dataType": dataType, "data": data})
	}
	original := func(id string) object { return object{"videoFileId": object{"original": id}} }

	r := club.boss.Do(t, http.MethodPost, storiesPath, body("image", object{"text": "look", "fileId": image}))
	a := requireAggregate(t, r, "", storyAggregate)
	require.Equal(t, map[string]any{"text": "look", "fileId": image, "imageDisplayMode": "fit"}, a.one("stories")["data"])
	require.Equal(t, []string{image}, a.values("files", "fileId"))
	filled := newStory(t, club.boss, club.id, body("image", object{"fileId": image, "imageDisplayMode": "fill"}))
	require.Subset(t, getStory(t, club.member, filled)["data"], object{"imageDisplayMode": "fill"})
	moving := newStory(t, club.boss, club.id, body("video", with(original(video), object{"thumbnailFileId": image})))
	a = requireAggregate(t, club.stranger.Do(t, http.MethodGet, storiesPath+"/"+moving, nil), "", storyAggregate)
	require.ElementsMatch(t, []string{image, video}, a.values("files", "fileId"))
	require.Subset(t, a.one("stories")["data"], object{"thumbnailFileId": image, "videoFileId": sizesOf(video)})
	require.Equal(t, []string{moving}, listStories(t, club.member, club.id, "&dataType=video"))
	require.Len(t, listStories(t, club.member, club.id, "&dataType=image"), 2)

	try := func(name, dataType string, data object, want failure) attempt {
		return attempt{name, club.boss, http.MethodPost, storiesPath, body(dataType, data), want}
	}
	requireAttempts(t, []attempt{
		try("no such image", "image", object{"fileId": unknownID}, notFound),
		try("no such video", "video", original(unknownID), notFound),
		try("a video for an image", "image", object{"fileId": video}, invalid("data.fileId")),
		try("an image for a video", "video", original(image), invalid("data.videoFileId.original")),
		try("a video for a thumbnail", "video", with(original(video), object{"thumbnailFileId": video}), invalid("data.thumbnailFileId")),
		try("another mode", "image", object{"fileId": image, "imageDisplayMode": "crop"}, invalid("data.imageDisplayMode")),
	})
}
