package picture

import (
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fraction is an EXIF rational, as the decoder represents it.
type fraction float64

func (f fraction) Float64() float64 { return float64(f) }

func TestPlain(t *testing.T) {
	t.Parallel()
	text := "Lens"
	var none *string
	for name, tc := range map[string]struct {
		value any
		want  any // nil if the value is dropped
	}{
		"string":               {" Lens\x00", "Lens"},
		"empty string":         {" \x00", nil},
		"invalid UTF-8":        {"\xff", nil},
		"bool":                 {true, true},
		"int":                  {int16(-3), -3.0},
		"uint":                 {uint32(7), 7.0},
		"float":                {2.5, 2.5},
		"not a number":         {math.NaN(), nil},
		"infinity":             {float32(math.Inf(1)), nil},
		"fraction":             {fraction(0.5), 0.5},
		"infinite fraction":    {fraction(math.Inf(-1)), nil},
		"stringer":             {big.NewInt(12), "12"},
		"time":                 {time.Month(3), "March"},
		"bytes":                {[]byte("secret"), nil},
		"list":                 {[]uint16{1, 2}, []any{1.0, 2.0}},
		"list, partly dropped": {[]float64{1, math.NaN()}, []any{1.0}},
		"empty list":           {[]string{}, nil},
		"array of any":         {[2]any{"a", []byte("b")}, []any{"a"}},
		"pointer":              {&text, "Lens"},
		"nil pointer":          {none, nil},
		"struct":               {struct{}{}, nil},
		"map":                  {map[string]int{"a": 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := plain(reflect.ValueOf(tc.value))
			require.Equal(t, tc.want != nil, ok)
			if ok {
				require.Equal(t, tc.want, got)
			}
		})
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		gps                 map[string]any
		latitude, longitude any
	}{
		"north east": {
			map[string]any{"GPSLatitude": 52.5, "GPSLongitude": 13.25, "GPSLatitudeRef": "N", "GPSLongitudeRef": "E"},
			52.5,
			13.25,
		},
		"south west": {
			map[string]any{"GPSLatitude": 33.5, "GPSLongitude": 70.5, "GPSLatitudeRef": "S", "GPSLongitudeRef": "W"},
			-33.5,
			-70.5,
		},
		"already negative": {
			map[string]any{"GPSLatitude": -33.5, "GPSLongitude": -70.5, "GPSLatitudeRef": "S", "GPSLongitudeRef": "W"},
			-33.5,
			-70.5,
		},
		"no reference":    {map[string]any{"GPSLatitude": 1.0, "GPSLongitude": 2.0}, 1.0, 2.0},
		"no longitude":    {map[string]any{"GPSLatitude": 1.0}, nil, nil},
		"not a number":    {map[string]any{"GPSLatitude": "1", "GPSLongitude": 2.0}, nil, nil},
		"beyond the pole": {map[string]any{"GPSLatitude": 90.5, "GPSLongitude": 2.0}, nil, nil},
		"beyond 180°":     {map[string]any{"GPSLatitude": 1.0, "GPSLongitude": 180.5}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := Metadata{GPS: tc.gps}
			m.position()
			require.Equal(t, tc.latitude, m.GPS["latitude"])
			require.Equal(t, tc.longitude, m.GPS["longitude"])
		})
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	m := Metadata{
		Exif: map[string]any{"Huge": strings.Repeat("x", maxExifJSON), "Channel": make(chan int)},
		GPS:  map[string]any{"latitude": 1.5},
	}
	m.trim()
	require.Empty(t, m.Exif)
	require.Equal(t, map[string]any{"latitude": 1.5}, m.GPS)
}

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for mimeType, want := range map[string]Format{
		"image/jpeg": JPEG, "image/png": PNG, "image/gif": GIF, "image/webp": WebP, "image/svg+xml": "", "IMAGE/PNG": "", "": "",
	} {
		got, ok := FormatOf(mimeType)
		require.Equal(t, want != "", ok, mimeType)
		if ok {
			require.Equal(t, want, got)
		}
	}
}
