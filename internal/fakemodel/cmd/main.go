// The command serves a fake model until it is interrupted, for trying agents by hand. It prints its base URL.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"termic/internal/fakemodel"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fakemodel:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("fakemodel", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "loopback address to listen on")
	logFile := flags.String("log", "", "file that gets every request, one JSON object per line")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var log io.Writer
	if *logFile != "" {
		f, err := os.OpenFile(*logFile, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		log = f
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := fakemodel.Start(fakemodel.Options{Addr: *addr, Log: log})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, s.URL()); err != nil {
		s.Close()
		return err
	}
	<-ctx.Done()
	return s.Close()
}
