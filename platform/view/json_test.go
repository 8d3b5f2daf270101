package view

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestEncodeObject(t *testing.T) {
	t.Parallel()
	number := func(x float64) *structpb.Struct {
		return &structpb.Struct{Fields: map[string]*structpb.Value{"x": structpb.NewNumberValue(x)}}
	}
	zero := 0.0
	for name, test := range map[string]struct {
		object *structpb.Struct
		want   string
		fails  bool
	}{
		"nil":                {nil, `{}`, false},
		"empty":              {&structpb.Struct{}, `{}`, false},
		"without spaces":     {number(1), `{"x":1}`, false},
		"infinite":           {number(1 / zero), ``, true},
		"not a number":       {number(zero / zero), ``, true},
		"a value of no kind": {&structpb.Struct{Fields: map[string]*structpb.Value{"x": {}}}, ``, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := EncodeObject(test.object)
			require.Equal(t, test.fails, err != nil)
			require.Equal(t, test.want, string(raw))
			if test.fails {
				require.Equal(t, `{}`, string(ObjectJSON(test.object)))
			}
		})
	}
}
