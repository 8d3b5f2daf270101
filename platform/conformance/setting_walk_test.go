package conformance

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// settingValues are two values of each setting that is a text or does not allow every value.
var settingValues = map[string][2]any{
	"userPrivacySetting":   {"public", "private"},
	"membershipAcceptance": {"automatic", "invitation"},
	"defaultAccessType":    {"network", "public"},
	"rateLimit":            {"100000/1m", "200000/1m"},
	"retentionAuditDays":   {0.0, 30.0},

	"isAllowAdminViewConversationMessage":   {true, true},
	"isAllowAdminManageConversationMessage": {true, true},
}

// settingPlaces are the places of settings in answers, where they are not those of the setting's name.
var settingPlaces = map[string][]string{
	"/chat messagePreviewSetting.enabled":          {".messagePreview.enabled"},
	"/chat messagePreviewSetting.isIncludeDeleted": {".messagePreview.isIncludeDeleted"},
	"/social maxGlobalPinnedPost":                  {}, // with all settings only
	"/social storyExpiryTimeMinutes":               {".story.expiryTimeMinutes", ".socialNetworkSetting.story.expiryTimeMinutes"},
	"/video-streaming enabled":                     {".enabled"},
	"/video-streaming moderation.enabled":          {".moderation.enabled"},
}

// TestEverySettingAlone changes each setting of the network alone: the answer and what is read afterwards show the new
// value in each of its places, and every other setting as it was. The other regions follow.
func TestEverySettingAlone(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss := n.Admin(region.EU)
	for path, request := range map[string]proto.Message{
		"":                 new(plazav1.UpdateNetworkSettingsRequest),
		"/chat":            new(plazav1.UpdateChatSettingsRequest),
		"/moderation":      new(plazav1.UpdateModerationRequest),
		"/product":         new(plazav1.UpdateProductSettingsRequest),
		"/semantic-search": new(plazav1.UpdateSemanticSearchSettingsRequest),
		"/social":          new(plazav1.UpdateSocialSettingsRequest),
		"/users":           new(plazav1.UpdateUserSettingsRequest),
		"/video-streaming": new(plazav1.UpdateVideoStreamingSettingsRequest),
	} {
		settings := leaves(boss.Do(t, http.MethodGet, settingsPath+path, nil).OK(t).JSON(t), "")
		for _, field := range settingsOf(request.ProtoReflect().Descriptor(), "") {
			setting := path + " " + field
			old, change, places := changeOf(t, settings, setting)
			for _, place := range places {
				require.Equal(t, old, settings[place], "%s: %s", setting, place)
				settings[place] = change
			}
			answer := boss.Do(t, http.MethodPut, settingsPath+path, bodyWith(field, change)).OK(t)
			require.Equal(t, settings, leaves(answer.JSON(t), ""), setting)
			require.Equal(t, settings, leaves(boss.Do(t, http.MethodGet, settingsPath+path, nil).OK(t).JSON(t), ""), setting)
		}
		require.Eventually(t, func() bool {
			return maps.Equal(settings, leaves(boss.At(region.SG).Do(t, http.MethodGet, settingsPath+path, nil).OK(t).JSON(t), ""))
		}, apptest.Patience, 20*time.Millisecond, path)
	}
}

// changeOf returns the value of a setting, another one, and its places in the answer.
func changeOf(t *testing.T, settings object, setting string) (old, change any, places []string) {
	t.Helper()
	name := setting[strings.LastIndexAny(setting, " .")+1:]
	places, ok := settingPlaces[setting]
	if !ok {
		for place := range settings {
			if strings.HasSuffix(place, "."+name) {
				places = append(places, place)
			}
		}
		require.NotEmpty(t, places, "%s is in the answer", setting)
	}
	if len(places) == 0 {
		return nil, 7.0, nil
	}
	old = settings[places[0]]
	if values, ok := settingValues[name]; ok {
		if old == values[0] {
			return old, values[1], places
		}
		return old, values[0], places
	}
	switch value := old.(type) {
	case bool:
		return old, !value, places
	case float64:
		if value > 1 {
			return old, value - 1, places
		}
		return old, value + 1, places
	default:
		t.Fatalf("%s has no two values in settingValues", setting)
		return nil, nil, nil
	}
}

// bodyWith returns the JSON object in which the field at a path has a value.
func bodyWith(path string, value any) object {
	if outer, inner, ok := strings.Cut(path, "."); ok {
		return object{outer: bodyWith(inner, value)}
	}
	return object{path: value}
}

// settingsOf returns the paths of the settings of a message.
func settingsOf(m protoreflect.MessageDescriptor, prefix string) []string {
	var all []string
	for i := range m.Fields().Len() {
		switch f := m.Fields().Get(i); {
		case f.IsList() || f.IsMap():
		case f.Message() != nil:
			all = append(all, settingsOf(f.Message(), prefix+f.JSONName()+".")...)
		default:
			all = append(all, prefix+f.JSONName())
		}
	}
	return all
}

// leaves returns the values of a JSON document that are not objects or lists, by their paths.
func leaves(value any, prefix string) object {
	all := object{}
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			maps.Copy(all, leaves(child, prefix+"."+key))
		}
	case []any:
		for i, child := range v {
			maps.Copy(all, leaves(child, prefix+"."+strconv.Itoa(i)))
		}
	default:
		all[prefix] = v
	}
	return all
}
