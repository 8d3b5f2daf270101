package main

import (
	"context"
	"errors"
	"io"
	"net"
)

// relay accepts connections until ctx is done, and connects each with an address.
func relay(ctx context.Context, to string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", ":8080")
	if err != nil {
		return err
	}
	stopped := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stopped()
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go join(ctx, conn, to)
	}
}

// join copies between a connection and a new one to an address, until both are closed.
func join(ctx context.Context, from net.Conn, to string) {
	defer func() { _ = from.Close() }()
	var dialer net.Dialer
	target, err := dialer.DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(target, from) // an error ends the connection, as its end does
		_ = target.Close()
	}()
	_, _ = io.Copy(from, target)
}
