package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"golang.org/x/term"

	"github.com/plaza-social/plaza/controllers/keyring"
)

const (
	// maxBackup is the size of the largest backup file. That of a recovery Secret, which has at most 1 MiB, is smaller.
	maxBackup = 2 << 20
	// maxKeyFile is the size of the largest file with a passphrase, recipients or identities.
	maxKeyFile = 64 << 10
)

// recipients are the flags that say how a backup is encrypted.
type recipients struct {
	keys, files    []string
	passphrase     bool
	passphraseFile string
}

// read returns the recipients. For a passphrase it asks on the terminal.
func (r recipients) read(ctx context.Context, p *plugin) ([]age.Recipient, error) {
	if r.passphrase || r.passphraseFile != "" {
		passphrase, err := p.passphrase(ctx, r.passphraseFile, true)
		if err != nil {
			return nil, err
		}
		recipient, err := age.NewScryptRecipient(passphrase.Reveal())
		if err != nil {
			return nil, err
		}
		if p.workFactor != 0 {
			recipient.SetWorkFactor(p.workFactor)
		}
		return []age.Recipient{recipient}, nil
	}
	var all []age.Recipient
	for i, key := range r.keys {
		found, err := age.ParseRecipients(strings.NewReader(key))
		if err != nil { // it is not quoted: it may be an identity
			return nil, fmt.Errorf("--recipient %d is not a public key of age, such as age1…", i+1)
		}
		all = append(all, found...)
	}
	for _, path := range r.files {
		content, err := readFile(path, maxKeyFile)
		if err != nil {
			return nil, err
		}
		found, err := age.ParseRecipients(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("%s has no public keys of age: %w", path, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// passphrase returns the passphrase of a file, or asks for it on the terminal: twice if a mistake would make the backup useless.
func (p *plugin) passphrase(ctx context.Context, path string, twice bool) (keyring.Secret, error) {
	if path != "" {
		content, err := readFile(path, maxKeyFile)
		if err != nil {
			return keyring.Secret{}, err
		}
		text := strings.TrimRight(string(content), "\r\n")
		if text == "" {
			return keyring.Secret{}, fmt.Errorf("%s is empty: want a passphrase", path)
		}
		return keyring.NewSecret(text), nil
	}
	text, err := p.ask(ctx, "Passphrase of the backup: ")
	if err != nil {
		return keyring.Secret{}, err
	}
	if text.Reveal() == "" {
		return keyring.Secret{}, errors.New("the passphrase is empty")
	}
	if twice {
		again, err := p.ask(ctx, "Again: ")
		if err != nil {
			return keyring.Secret{}, err
		}
		if !again.Equal(text) {
			return keyring.Secret{}, errors.New("the passphrases differ")
		}
	}
	return text, nil
}

// askTerminal asks for a text on the terminal, which does not show it.
func askTerminal(ctx context.Context, prompt string) (keyring.Secret, error) {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		terminal = os.Stdin
	} else {
		defer func() { _ = terminal.Close() }()
	}
	state, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		return keyring.Secret{}, errors.New("there is no terminal to ask for the passphrase: use --passphrase-file")
	}
	_, _ = fmt.Fprint(os.Stderr, prompt)
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(int(terminal.Fd()))
		answers <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		_ = term.Restore(int(terminal.Fd()), state)
		return keyring.Secret{}, ctx.Err()
	case a := <-answers:
		_, _ = fmt.Fprintln(os.Stderr)
		if a.err != nil {
			return keyring.Secret{}, fmt.Errorf("reading the passphrase: %w", a.err)
		}
		return keyring.NewSecret(string(a.text)), nil
	}
}

// encrypt returns a text as an armored age file.
func encrypt(text keyring.Secret, to []age.Recipient) ([]byte, error) {
	var out bytes.Buffer
	armored := armor.NewWriter(&out)
	plain, err := age.Encrypt(armored, to...)
	if err != nil {
		return nil, fmt.Errorf("encrypting the backup: %w", err)
	}
	_, err = io.WriteString(plain, text.Reveal())
	if err = errors.Join(err, plain.Close(), armored.Close()); err != nil {
		return nil, fmt.Errorf("encrypting the backup: %w", err)
	}
	if out.Len() > maxBackup {
		return nil, fmt.Errorf("the backup would have more than %d bytes", maxBackup)
	}
	return out.Bytes(), nil
}

// errNotABackup is the error for a file that encrypt did not write. The errors of age are not shown: they may quote the file, which may
// be that of the identity.
var errNotABackup = errors.New("it is not an armored file of age, or it is damaged")

// hasPassphrase reports whether an armored age file is encrypted with a passphrase.
func hasPassphrase(file []byte) (bool, error) {
	header, err := age.ExtractHeader(armor.NewReader(bytes.NewReader(file)))
	if err != nil {
		return false, errNotABackup
	}
	return bytes.Contains(header, []byte("\n-> scrypt ")), nil
}

// decrypt returns the text of an armored age file.
func decrypt(file []byte, with []age.Identity) (keyring.Secret, error) {
	plain, err := age.Decrypt(armor.NewReader(bytes.NewReader(file)), with...)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return keyring.Secret{}, errors.New("the identity or passphrase is not that of the backup")
	}
	if err != nil {
		return keyring.Secret{}, errNotABackup
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		return keyring.Secret{}, errNotABackup
	}
	return keyring.NewSecret(string(text)), nil
}

// readFile reads a file of a limited size.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return readAll(file, path, limit)
}

func readAll(from io.Reader, name string, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return content, nil
}

// checkAbsent returns an error if a file exists.
func checkAbsent(path string) error {
	_, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s exists: --overwrite replaces it", path)
}

// writeFile writes a file of mode 0600, which is complete or does not exist.
func writeFile(path string, content []byte, overwrite bool) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // of mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if !overwrite {
		if err := checkAbsent(path); err != nil {
			return err
		}
	}
	return os.Rename(file.Name(), path)
}
