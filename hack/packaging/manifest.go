package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// images are the images of an installation, each with its tag.
type images struct{ operator, platform string }

// overlay is what people write who run images of their own registry; config/manager/kustomization.yaml tells them.
const overlay = `resources: [%s]
images:
- {name: plaza-operator, newName: %q, newTag: %q}
patches:
- patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: plaza-operator, namespace: plaza-system}
    spec:
      template:
        spec:
          containers:
          - name: manager
            env: [{name: PLAZA_IMAGE, value: %q}]
`

// writeManifest writes everything of config/default, with the images of a version, as one file.
func writeManifest(root string, m images, out string) error {
	text, err := manifest(root, m)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, text, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %s, %.0f KiB\n", out, m.operator, float64(len(text))/(1<<10))
	return nil
}

func manifest(root string, m images) ([]byte, error) {
	name, tag, err := splitImage(m.operator)
	if err != nil {
		return nil, err
	}
	if _, _, err := splitImage(m.platform); err != nil {
		return nil, err
	}
	// An overlay may only lead to what lies beside it, so it is made inside the repository, where git does not look.
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(bin, "overlay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // what is left of it hurts nobody
	base, err := filepath.Rel(folder, filepath.Join(root, "config", "default"))
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf(overlay, filepath.ToSlash(base), name, tag, m.platform)
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	rendered, err := kustomize(folder)
	if err != nil {
		return nil, err
	}
	header := fmt.Sprintf("# Plaza's operator, %s: kubectl apply --server-side -f install.yaml\n", m.operator)
	return append([]byte(header), rendered...), nil
}

// kustomize does what kubectl kustomize does. Its order is kubectl's too: the namespace comes first, as kubectl apply -f goes
// through a file from the top.
func kustomize(folder string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	made, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	return made.AsYaml()
}

// splitImage returns the name and the tag of an image. The colon of a registry's port is no tag's.
func splitImage(image string) (name, tag string, err error) {
	at := strings.LastIndex(image, ":")
	if at <= 0 || at == len(image)-1 || strings.Contains(image[at:], "/") {
		return "", "", fmt.Errorf("image %q has no name and tag, such as plaza:v1", image)
	}
	return image[:at], image[at+1:], nil
}
