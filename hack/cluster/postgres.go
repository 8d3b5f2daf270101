package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The database runs on the host. All regions reach it through the bridge; a disconnected region loses it, as it would
// lose the databases of other regions.
const databaseName = "plaza"

// startPostgres starts the server and returns when it responds. The first start initializes its data.
func (c cluster) startPostgres(ctx context.Context) error {
	if c.running("postgres") {
		return nil
	}
	bin, err := findPostgres()
	if err != nil {
		return err
	}
	owner, err := plainUser()
	if err != nil {
		return err
	}
	folder, err := c.postgresFolder(owner)
	if err != nil {
		return err
	}
	data := filepath.Join(folder, "data")
	password, err := c.password()
	if err != nil {
		return err
	}
	if !exists(filepath.Join(data, "PG_VERSION")) {
		if err := c.initdb(ctx, bin, data, password, owner); err != nil {
			return err
		}
	}
	err = c.start(daemon{name: "postgres", user: owner, args: []string{
		filepath.Join(bin, "postgres"), "-D", data, "-p", postgresPort, "-c", "listen_addresses=" + hostAddress,
		"-c", "unix_socket_directories=", "-c", "max_connections=1000", "-c", "fsync=off", "-c", "jit=off",
	}})
	if err != nil {
		return err
	}
	return c.createDatabase(ctx, bin, password)
}

// findPostgres returns the directory of the newest PostgreSQL server programs.
func findPostgres() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		version := func(path string) int {
			n, _ := strconv.Atoi(strings.Split(path, "/")[4]) // Debian's directories are version numbers
			return n
		}
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	if path, err := filepath.EvalSymlinks("/usr/bin/initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errors.New("no PostgreSQL server programs found: run hack/ensure-postgres.sh")
}

// plainUser returns the user that runs the server, which refuses to run as root.
func plainUser() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(errUID, errGID)
	}
	return nil, errors.New("neither user postgres nor user `nobody` exists, and PostgreSQL cannot run as root")
}

// postgresFolder returns a directory for the data that owner can access: in the state directory or, if a parent of that
// is not accessible, a separate one whose path is recorded for removal.
func (c cluster) postgresFolder(owner *syscall.Credential) (string, error) {
	note := c.path("run", "postgres-folder")
	if text, err := os.ReadFile(note); err == nil && exists(string(text)) {
		return string(text), nil
	}
	folder := c.path("postgres")
	if !openToAll(c.dir) {
		var err error
		if folder, err = os.MkdirTemp("/var/tmp", "plaza-cluster-"); err != nil {
			return "", err
		}
	} else if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	return folder, errors.Join(os.Chown(folder, int(owner.Uid), int(owner.Gid)), write(note, folder))
}

// openToAll reports whether every user may traverse a directory and its parents.
func openToAll(folder string) bool {
	for ; ; folder = filepath.Dir(folder) {
		info, err := os.Stat(folder)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if folder == filepath.Dir(folder) {
			return true
		}
	}
}

// password returns the password of the database, which is generated on the first start.
func (c cluster) password() (string, error) {
	path := c.path("pki", "postgres-password")
	if text, err := os.ReadFile(path); err == nil {
		return string(text), nil
	}
	password := rand.Text()
	return password, write(path, password)
}

func (c cluster) initdb(ctx context.Context, bin, data, password string, owner *syscall.Credential) error {
	// The server's user may lack access to the state directory, so the password file is temporarily put next to the
	// data.
	file := filepath.Join(filepath.Dir(data), "password")
	defer os.Remove(file) //nolint:errcheck // readable only by its owner and root
	if err := errors.Join(write(file, password), os.Chown(file, int(owner.Uid), int(owner.Gid))); err != nil {
		return err
	}
	_, err := runAs(ctx, owner, "", filepath.Join(bin, "initdb"), "-D", data, "-U", databaseName,
		"--auth=scram-sha-256", "--pwfile="+file, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	if err != nil {
		return err
	}
	access, err := os.OpenFile(filepath.Join(data, "pg_hba.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	var errs []error
	for _, network := range []string{nodeNetwork, podNetwork} {
		_, err := fmt.Fprintln(access, "host", "all", "all", network, "scram-sha-256")
		errs = append(errs, err)
	}
	return errors.Join(append(errs, access.Close())...)
}

// createDatabase waits for the server, creates Plaza's database and writes its URL to a file.
func (c cluster) createDatabase(ctx context.Context, bin, password string) error {
	url := func(database string) string {
		u := url.URL{
			Scheme: "postgresql", User: url.UserPassword(databaseName, password),
			Host: net.JoinHostPort(hostAddress, postgresPort), Path: "/" + database, RawQuery: "sslmode=disable",
		}
		return u.String()
	}
	err := within(ctx, time.Minute, "waiting for PostgreSQL", func(ctx context.Context) error {
		if !c.running("postgres") {
			return errors.New("it exited: " + c.lastWords("postgres"))
		}
		found, err := pipe(ctx, "SELECT 1 FROM pg_database WHERE datname = '"+databaseName+"'",
			filepath.Join(bin, "psql"), "-d", url("postgres"), "-At", "-w")
		if err != nil || strings.TrimSpace(found) == "1" {
			return err
		}
		_, err = pipe(ctx, "CREATE DATABASE "+databaseName, filepath.Join(bin, "psql"), "-d", url("postgres"), "-w")
		return err
	})
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), password, "…"))
	}
	return write(c.databaseURL(), url(databaseName)+"\n")
}
