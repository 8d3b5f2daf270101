package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// devKeyID is the id of the server key and of the API key that plaza dev generates. Other keys can be added to the
// files.
const devKeyID = "dev"

// devKeys are the id and the keys of a development network. They are generated at the first start and then reused.
type devKeys struct {
	dir          string
	networkID    string
	serverKey    string
	apiKey       string
	directoryKey telemetry.Secret
	mediaKey     telemetry.Secret
}

// ensureDevKeys generates missing keys in dir, in files that only their owner can read.
func ensureDevKeys(dir string) (devKeys, error) {
	k := devKeys{dir: dir}
	server, api, signing := k.files()
	var err error
	if k.networkID, err = ensureHex(filepath.Join(dir, "network-id"), 12); err != nil {
		return devKeys{}, err
	}
	if err := new(config.NetworkID).UnmarshalText([]byte(k.networkID)); err != nil {
		return devKeys{}, fmt.Errorf("%s: %w", filepath.Join(dir, "network-id"), err)
	}
	directory, err := ensureHex(filepath.Join(dir, "directory-key"), 32)
	if err != nil {
		return devKeys{}, err
	}
	media, err := ensureHex(filepath.Join(dir, "media-key"), 32)
	if err != nil {
		return devKeys{}, err
	}
	k.directoryKey, k.mediaKey = telemetry.Secret(directory), telemetry.Secret(media)
	if k.serverKey, err = auth.EnsureKeySet(server, devKeyID); err != nil {
		return devKeys{}, err
	}
	if k.apiKey, err = auth.EnsureKeySet(api, devKeyID); err != nil {
		return devKeys{}, err
	}
	return k, auth.EnsureKeyring(signing)
}

// files returns the paths of the three key files.
func (k devKeys) files() (server, api, signing string) {
	return filepath.Join(k.dir, "server-keys.json"), filepath.Join(k.dir, "api-keys.json"), filepath.Join(k.dir, "signing-keys.json")
}

// ensureHex returns the text in the file at path, creating it with random bytes in hexadecimal if it does not exist.
func ensureHex(path string, bytes int) (string, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // crypto/rand.Read never fails: it crashes the program instead
	made := hex.EncodeToString(raw)
	return made, writeFile(path, made+"\n")
}

// writeFile atomically writes a file that only its owner can read.
func writeFile(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}
