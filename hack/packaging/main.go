// Program packaging creates the installation artifacts: a manifest of everything, from the kustomizations in config/,
// and the chart's archive. It needs neither kubectl nor helm.
//
//	go run . manifest -root ../.. -operator-image plaza-operator:v1 -platform-image plaza:v1 -out ../../bin/install.yaml
//	go run . chart -root ../.. -version v1.0.0 -operator-image plaza-operator:v1 -platform-image plaza:v1 -out ../../bin
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	err := run(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("an argument is required: manifest or chart")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	root := flags.String("root", ".", "root of the repository")
	out := flags.String("out", "", "path of the manifest, or directory of the chart's archive")
	version := flags.String("version", "devel", "version of the repository, for the chart")
	var m images
	flags.StringVar(&m.operator, "operator-image", "", "name and tag of the operator's image")
	flags.StringVar(&m.platform, "platform-image", "", "name and tag of the platform's default image")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "manifest":
		return writeManifest(*root, m, *out)
	case "chart":
		return writeChart(*root, *version, m, *out)
	}
	return fmt.Errorf("unknown argument %q: use manifest or chart", args[0])
}
