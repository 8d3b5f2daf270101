package devdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// cluster is a directory with the data of one PostgreSQL server:
//
//	data      created by initdb
//	data.new  created by an unfinished initdb; never used
//	password  of the user plaza
//	log       standard error of the server
type cluster struct {
	folder    string
	handle    *os.File // the open directory; see owner.prepare
	owner     *owner
	install   install
	ephemeral bool
	extra     []string // settings
	log       *slog.Logger
}

const (
	superuser    = "plaza"
	dataName     = "data"
	freshName    = "data.new"
	passwordName = "password"
	logName      = "log"
)

// openCluster creates or opens the directory "postgres" in dir and selects the programs that can read its data.
func openCluster(dir string, opts Options, installs []install) (*cluster, error) {
	c := &cluster{folder: filepath.Join(dir, "postgres"), ephemeral: opts.Ephemeral, extra: opts.Settings, log: opts.Log}
	var err error
	if c.owner, err = ownerOf(filepath.Join(c.folder, dataName)); err != nil {
		return nil, err
	}
	if err := os.Mkdir(c.folder, c.folderMode()); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if c.install, err = pickInstall(filepath.Join(c.folder, dataName), installs); err != nil {
		return nil, err
	}
	c.handle, err = os.Open(c.folder)
	return c, err
}

// folderMode allows another owner to traverse the directory but nothing else. root keeps owning the directory itself,
// because it writes there and must not follow a link placed by another user.
func (c *cluster) folderMode() fs.FileMode {
	if c.owner != nil {
		return 0o711
	}
	return 0o700
}

// pickInstall returns the install of the version that created data, because servers read no other version's data, or
// else the newest.
func pickInstall(data string, installs []install) (install, error) {
	text, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return installs[0], nil
	}
	if err != nil {
		return install{}, err
	}
	version := strings.TrimSpace(string(text))
	for _, i := range installs {
		if strconv.Itoa(i.major) == version {
			return i, nil
		}
	}
	return install{}, fmt.Errorf("%s was created by PostgreSQL %s but only PostgreSQL %d is installed: "+
		"install that version, or remove the directory with its data", data, version, installs[0].major)
}

// path returns the path of name in the cluster's directory for the server's programs.
func (c *cluster) path(name string) string { return c.owner.path(c.folder, name) }

// command returns a command that runs one of the server's programs as the owner.
func (c *cluster) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.install.bin, program), args...)
	cmd.Dir = "/" // the owner may lack access to the current directory
	cmd.Env = serverEnv()
	c.owner.prepare(cmd, c.handle)
	return cmd
}

// serverEnv returns the environment without variables that affect the server, such as PGPORT, PGDATA and LC_ALL.
func serverEnv() []string {
	env := []string{"LC_ALL=C", "TZ=UTC"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// ensure creates the data directory if it does not exist.
func (c *cluster) ensure(ctx context.Context) error {
	_, err := os.Stat(filepath.Join(c.folder, dataName, "PG_VERSION"))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.log.InfoContext(ctx, "creating a database cluster", "folder", c.folder, "programs", c.install.bin, "user", c.owner.String())
	if err := c.writePassword(); err != nil {
		return err
	}
	if err := c.initialise(ctx); err != nil {
		return err
	}
	// Renaming makes sure that only a finished initdb is used.
	if err := os.Rename(filepath.Join(c.folder, freshName), filepath.Join(c.folder, dataName)); err != nil {
		return err
	}
	return c.handle.Sync()
}

// locales are tried in this order. Both sort text by bytes; the first one also classifies non-ASCII letters but is
// missing on some systems other than Linux.
var locales = []string{"C.UTF-8", "C"}

func (c *cluster) initialise(ctx context.Context) error {
	var errs []error
	for _, locale := range locales {
		if err := c.freshFolder(); err != nil {
			return err
		}
		err := c.initdb(ctx, locale)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
		if !strings.Contains(err.Error(), "locale") {
			break
		}
	}
	return errors.Join(errs...)
}

// freshFolder creates an empty directory for initdb, replacing that of an interrupted one.
func (c *cluster) freshFolder() error {
	fresh := filepath.Join(c.folder, freshName)
	return errors.Join(os.RemoveAll(fresh), os.Mkdir(fresh, 0o700), c.owner.chown(fresh))
}

// authMethod returns how clients prove that they know the password. SCRAM costs each connection thousands of hashes, which
// the race detector makes expensive; an ephemeral server, whose port is local, takes the password itself.
func (c *cluster) authMethod() string {
	if c.ephemeral {
		return "password"
	}
	return "scram-sha-256"
}

func (c *cluster) initdb(ctx context.Context, locale string) error {
	args := []string{
		"--pgdata=" + c.path(freshName), "--username=" + superuser, "--pwfile=" + c.path(passwordName),
		"--auth=" + c.authMethod(), "--encoding=UTF8", "--locale=" + locale, "--no-instructions",
	}
	if c.ephemeral {
		args = append(args, "--no-sync")
	}
	cmd := c.command("initdb", args...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := runUntil(ctx, cmd); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLines(output.String(), 5))
	}
	return nil
}

// runUntil runs cmd and kills it if ctx ends.
func runUntil(ctx context.Context, cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer ended()
	return errors.Join(cmd.Wait(), ctx.Err())
}

func (c *cluster) writePassword() error {
	path := filepath.Join(c.folder, passwordName)
	if err := os.WriteFile(path, []byte(randomHex(24)+"\n"), 0o600); err != nil {
		return err
	}
	return c.owner.chown(path)
}

func (c *cluster) password() (string, error) {
	text, err := os.ReadFile(filepath.Join(c.folder, passwordName))
	return strings.TrimSpace(string(text)), err
}

// openLog opens the log of a server in folder. The caller closes it when the server, which has its own descriptor, has
// started.
func openLog(folder string) (*os.File, error) {
	return os.OpenFile(filepath.Join(folder, logName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// logTail returns the end of the log in folder, for errors.
func logTail(folder string) string {
	text, err := os.ReadFile(filepath.Join(folder, logName))
	if err != nil {
		return err.Error()
	}
	return lastLines(string(text), 5)
}

// lastLines returns the last n lines of text, joined into one line.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "; ")
}
