// Command model serves scripts to agent CLIs on loopback, for trying a CLI by hand:
//
//	go run ./test/agents/model -scripts test/agents/model/example.json
//
// It prints its address, then every request as a line of JSON, until it is interrupted. docs/HARNESSES.md describes how
// to point each CLI to it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"orange/internal/scriptedmodel"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "model:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("model", flag.ContinueOnError)
	address := flags.String("addr", "127.0.0.1:0", "where to listen")
	file := flags.String("scripts", "", "a JSON file with a list of scripts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	scripts, err := readScripts(*file)
	if err != nil {
		return err
	}
	server, err := scriptedmodel.StartAt(*address, scripts)
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Fprintln(out, server.URL())
	return printRequests(ctx, server, json.NewEncoder(out))
}

func readScripts(file string) ([]scriptedmodel.Script, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the scripts: %w: give a file with -scripts", err)
	}
	var scripts []scriptedmodel.Script
	if err := json.Unmarshal(text, &scripts); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return scripts, nil
}

// printRequests prints requests as they arrive, until the context is done.
func printRequests(ctx context.Context, server *scriptedmodel.ModelServer, out *json.Encoder) error {
	for printed := 0; ; printed++ {
		request, err := server.Await(ctx, func(r scriptedmodel.Request) bool { return r.Number > printed })
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := out.Encode(request); err != nil {
			return err
		}
	}
}
