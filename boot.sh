#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes configure and Makefile.in from configure.ac and Makefile.am.
set -eu
cd "$(dirname "$0")"

for package in autoconf automake; do
    command -v $package > /dev/null || missing="${missing-} $package"
done
if [ -n "${missing-}" ]; then
    echo "boot.sh: missing; as root run: apt-get install$missing" \
         "(or build-aux/install-packages for all that is needed)" >&2
    exit 1
fi
exec autoreconf --force --install
