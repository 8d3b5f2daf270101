package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// images are the images of an installation, with tags.
type images struct{ operator, platform string }

// overlay is the kustomization for images of another registry, as described in config/manager/kustomization.yaml.
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

// writeManifest writes config/default with the given images into one file.
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
	// Overlays may only refer to relative paths, so it is created inside the repository, in a directory ignored by git.
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(bin, "overlay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a remaining directory is harmless
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

// kustomize renders a kustomization like kubectl kustomize. It uses kubectl's order, with the namespace first, because
// kubectl apply -f processes a file from top to bottom.
func kustomize(folder string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	made, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	return made.AsYaml()
}

// splitImage returns the name and the tag of an image. The colon before a registry's port does not start a tag.
func splitImage(image string) (name, tag string, err error) {
	at := strings.LastIndex(image, ":")
	if at <= 0 || at == len(image)-1 || strings.Contains(image[at:], "/") {
		return "", "", fmt.Errorf("image %q must have a name and a tag, such as plaza:v1", image)
	}
	return image[:at], image[at+1:], nil
}
