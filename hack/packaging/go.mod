module github.com/plaza-social/plaza/hack/packaging

go 1.26.8

require helm.sh/helm/v3 v3.22.0 // indirect
