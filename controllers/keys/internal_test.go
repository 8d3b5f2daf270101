package keys

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
)

// TestFirstProblem checks which of several problems the condition reports.
func TestFirstProblem(t *testing.T) {
	for want, reasons := range map[v1alpha1.Reason][]v1alpha1.Reason{
		"":                                {},
		v1alpha1.ReasonNoServers:          {v1alpha1.ReasonNoServers, v1alpha1.ReasonServersSilent},
		v1alpha1.ReasonServersSilent:      {v1alpha1.ReasonServersSilent, v1alpha1.ReasonNoServers},
		v1alpha1.ReasonClusterUnreachable: {v1alpha1.ReasonServersSilent, v1alpha1.ReasonClusterUnreachable},
		v1alpha1.ReasonKeyPending: {
			v1alpha1.ReasonServersSilent, v1alpha1.ReasonClusterUnreachable, v1alpha1.ReasonKeyPending, v1alpha1.ReasonProgressing,
		},
		v1alpha1.ReasonKeyFileBroken: {v1alpha1.ReasonClusterUnreachable, v1alpha1.ReasonKeyPending, v1alpha1.ReasonKeyFileBroken},
		v1alpha1.ReasonKeysMissing: {
			v1alpha1.ReasonClusterUnreachable, v1alpha1.ReasonKeyPending, v1alpha1.ReasonKeyFileBroken, v1alpha1.ReasonKeysMissing,
		},
	} {
		r := &run{}
		for _, reason := range reasons {
			r.problemf(reason, "why")
		}
		found := v1alpha1.Reason("")
		if first := r.firstProblem(); first != nil {
			found = first.Reason
		}
		require.Equal(t, want, found)
	}
}

// TestKeysInStatus checks that the list of a Secret with many keys is short.
func TestKeysInStatus(t *testing.T) {
	require.Len(t, keyStatus(make([]keyring.KeyState, 20)), 20)
	require.Len(t, keyStatus(make([]keyring.KeyState, 21)), 20)
}

// TestVerification checks what is reported about the servers that were asked about a key.
func TestVerification(t *testing.T) {
	silent := errors.New("time-out")
	for name, c := range map[string]struct {
		answers   []error
		succeeded bool
		reason    v1alpha1.Reason
		message   string
	}{
		"no server":     {nil, false, v1alpha1.ReasonNoServers, "no server of the region is ready yet."},
		"all accept it": {[]error{nil, nil}, true, "", ""},
		"one refuses it": {
			[]error{platformclient.ErrKeyRefused}, false, v1alpha1.ReasonKeyPending, "accepted by 0 of 1 server, not by pod a yet.",
		},
		"the last refuse it": {
			[]error{nil, platformclient.ErrKeyRefused, platformclient.ErrKeyRefused},
			false, v1alpha1.ReasonKeyPending,
			"accepted by 1 of 3 servers, not by pod b yet.",
		},
		"others are silent": {
			[]error{platformclient.ErrKeyRefused, silent, errors.New("no route"), nil},
			false, v1alpha1.ReasonServersSilent,
			"accepted by 1 of 4 servers; pod b: time-out.",
		},
		"a wrapped refusal": {
			[]error{fmt.Errorf("server: %w", platformclient.ErrKeyRefused)},
			false, v1alpha1.ReasonKeyPending,
			"accepted by 0 of 1 server, not by pod a yet.",
		},
		"the first is silent": {[]error{silent, nil}, false, v1alpha1.ReasonServersSilent, "accepted by 1 of 2 servers; pod a: time-out."},
	} {
		t.Run(name, func(t *testing.T) {
			v := verification{}
			for i, err := range c.answers {
				v.answers = append(v.answers, answer{pod: string(rune('a' + i)), err: err})
			}
			require.Equal(t, c.succeeded, v.succeeded())
			if !c.succeeded {
				reason, message := v.failure(v1alpha1.ReasonKeyPending)
				require.Equal(t, c.reason, reason)
				require.Equal(t, c.message, message)
			}
		})
	}
}
