# Sourced by hack/cluster/test.sh and hack/kind/test.sh.

# build_images writes the images and the manifests that the tests use, and exports
#   CLUSTER_IMAGE_TAG         the tag of the images
#   CLUSTER_PREVIOUS_IMAGE    the image of the previous release, from which the network is upgraded, or
#   CLUSTER_PREVIOUS_MISSING  why there is none
# With CLUSTERS=three the previous release is not tested.
build_images() {
  local status=0 missing
  export CLUSTER_IMAGE_TAG=cluster
  make --no-print-directory image install.yaml IMAGE_TAG="$CLUSTER_IMAGE_TAG"
  rm -f bin/plaza-previous-image.tar
  if [[ ${CLUSTERS:-} == three ]]; then return 0; fi
  missing=$(hack/previous.sh) || status=$?
  if ((status == 0)); then
    export CLUSTER_PREVIOUS_IMAGE=plaza:previous
  elif ((status == 4)); then
    export CLUSTER_PREVIOUS_MISSING=$missing
  else
    return $status
  fi
}
