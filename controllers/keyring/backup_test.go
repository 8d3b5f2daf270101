package keyring_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/controllers/keyring"
)

// TestBackup encodes and parses a backup; package plugin tests what is refused.
func TestBackup(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	identity, err := keyring.NewIdentity(random)
	require.NoError(t, err)
	api, err := keyring.NewAPIKeys(random)
	require.NoError(t, err)
	before := keyring.Backup{
		Network: "acme", Namespace: "plaza", NetworkID: identity.NetworkID, CreatedAt: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC),
		Sets: map[string]keyring.Saved{
			keyring.IdentitySet: keyring.Save(map[string][]byte{
				keyring.DirectoryKeyFile: []byte(identity.DirectoryKey.Reveal()), keyring.NetworkIDFile: []byte(identity.NetworkID),
			}, map[string]string{keyring.AnnotationKeySets: "api-keys", "of/others": "x"}),
			keyring.APIKeysSet: keyring.Save(map[string][]byte{keyring.APIKeysFile: []byte(api.Reveal())},
				map[string]string{keyring.AnnotationActive: "a-1"}),
		},
	}
	text := before.Encode()
	after, err := keyring.ParseBackup(text)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Equal(t, text.Reveal(), after.Encode().Reveal())
	require.NotContains(t, text.Reveal(), "of/others")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", after, after, after), identity.DirectoryKey.Reveal())
}

// TestBackupsThatAreRefused changes one field of a backup.
func TestBackupsThatAreRefused(t *testing.T) {
	identity, err := keyring.NewIdentity(rand.NewChaCha8([32]byte{}))
	require.NoError(t, err)
	text := keyring.Backup{
		Network: "acme", Namespace: "plaza", NetworkID: identity.NetworkID, CreatedAt: dawn,
		Sets: map[string]keyring.Saved{keyring.IdentitySet: keyring.Save(map[string][]byte{
			keyring.DirectoryKeyFile: []byte(identity.DirectoryKey.Reveal()), keyring.NetworkIDFile: []byte(identity.NetworkID),
		}, nil)},
	}.Encode().Reveal()
	for _, c := range []struct{ old, changed, want string }{
		{text, "{}", "it is not a backup of keys"},
		{text, "[]", "it is not a backup of keys"},
		{"plaza-keys/1", "", "it is not a backup of keys"},
		{"plaza-keys/1", "plaza-keys/2", `it has the format "plaza-keys/2", not plaza-keys/1: a later version wrote it`},
		{`"network"`, `"networks"`, "it has fields that the format plaza-keys/1 does not have, or data after its end"},
		{"2026-11-01T09:00:00Z", "2026-11-01", "createdAt is not an RFC 3339 time"},
		{`"acme"`, `""`, "it does not name the network and its namespace"},
		{`"plaza"`, `"-"`, "it does not name the network and its namespace"},
		{`"identity"`, `"other"`, "it has no identity"},
		{`"networkID": "` + identity.NetworkID, `"networkID": "`, "its identity is that of another network than networkID"},
		{identity.DirectoryKey.Reveal(), "", `"identity": the key file is invalid: directory-key is missing or empty`},
	} {
		require.Contains(t, text, c.old)
		_, err := keyring.ParseBackup(keyring.NewSecret(strings.Replace(text, c.old, c.changed, 1)))
		require.EqualError(t, err, c.want)
	}
	_, err = keyring.ParseSaved(keyring.NewSecret("[]"))
	require.ErrorAs(t, err, new(*keyring.BrokenError))
}

// TestSavedCheck checks keys that servers could not use. No error quotes them.
func TestSavedCheck(t *testing.T) {
	const hush = "hush-hush-hush-hush-hush"
	for _, tc := range []struct{ set, file, content, want string }{
		{"api-keys", "api-keys.json", `{"keys": [{"id": "a", "key": "` + hush + `"}]}`, ""},
		{"server-keys-eu", "server-keys.json", `{"keys": [{"id": "a", "key": "` + hush + `"}]}`, ""},
		{"server-keys-", "server-keys.json", `{"keys": [{"id": "a", "key": "` + hush + `"}]}`, "no set of keys has this name"},
		{"server-keys-../x", "server-keys.json", `{"keys": [{"id": "a", "key": "` + hush + `"}]}`, "no set of keys has this name"},
		{"api-keys", "server-keys.json", `{"keys": [{"id": "a", "key": "` + hush + `"}]}`, "it is missing or empty"},
		{"api-keys", "api-keys.json", " \n", "it is missing or empty"},
		{"api-keys", "api-keys.json", `{"keys": []}`, "it has no keys"},
		{"api-keys", "api-keys.json", `{"keys": [{"id": "` + hush + `", "key": "` + hush + `"}]}`, "the id is a key"},
		{
			"signing-keys", "signing-keys.json", `{"keys": [{"kid": "s", "seed": "` + hush + `"}]}`,
			"key 1: the seed is not the base64 of 32 bytes",
		},
		{"signing-keys", "signing-keys.json", `{"keys": [{"kid": "s", "seed": "` + strings.Repeat("A", 43) + `="}]}`, ""},
		{
			"signing-keys", "signing-keys.json", `{"keys": [{"kid": "s", "seed": "` + strings.Repeat("A", 40) + `"}]}`,
			"key 1: the seed is not the base64 of 32 bytes",
		},
		{
			"signing-keys", "signing-keys.json", `{"keys": [{"kid": "s", "seed": "` + strings.Repeat("A", 43) + `=x"}]}`,
			"key 1: the seed is not the base64 of 32 bytes",
		},
		{"identity", "network-id", "0123456789abcdef01234567", "directory-key is missing or empty"},
		{"identity", "directory-key", hush, "network-id is not 24 lowercase hexadecimal characters"},
	} {
		err := keyring.Save(map[string][]byte{tc.file: []byte(tc.content)}, nil).Check(tc.set)
		if tc.want == "" {
			require.NoError(t, err, tc)
			continue
		}
		require.ErrorContains(t, err, tc.want)
		require.NotContains(t, err.Error(), hush)
	}
}
