#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Run rdma-core's own tests and write each one's verdict.

run_suite.py TESTS-FOLDER RESULTS [ARGUMENT-OF-UNITTEST...]

RESULTS.verdicts gets a line a test: its name, the verdict (ok, skip, FAIL or ERROR) and the reason
of a skip, with tabs between. RESULTS.replaced gets the provider modules that could not be loaded,
with the reason. The tests run in upstream's own order, in one process, as upstream's own run_tests.py
runs them. The descriptor whose number is in PROGRESS_FD gets a line now and then.
"""
import ctypes
import importlib
import os
import random
import sys
import time
import types
import unittest


class StandIn(types.ModuleType):
    """In the place of a provider's module: every name in it is an empty class of that name."""

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        stand_in = type(name, (), {})
        setattr(self, name, stand_in)
        return stand_in


def provider_modules():
    """The modules below pyverbs.providers: their names and files."""
    import pyverbs.providers
    for folder in pyverbs.providers.__path__:
        for provider in sorted(os.listdir(folder)):
            for file in sorted(os.listdir(os.path.join(folder, provider))):
                if file.endswith('.so'):
                    yield (f'pyverbs.providers.{provider}.{file.split(".")[0]}',
                           os.path.join(folder, provider, file))


def replace(name):
    parent, _, own = name.rpartition('.')
    sys.modules[name] = StandIn(name)
    setattr(importlib.import_module(parent), own, sys.modules[name])


def replace_unloadable_provider_modules(report):
    """Upstream's helpers import provider modules, which need the provider's library of their release.

    Those that an older libmlx5 or libefa cannot serve are replaced, with those that are built on
    them, and nothing else is. They are asked of the dynamic linker first, since a module whose import
    failed leaves halves of others behind.
    """
    others = []
    unloadable = []
    for name, file in provider_modules():
        try:
            ctypes.CDLL(file, os.RTLD_NOW)
            others.append(name)
        except OSError as reason:
            unloadable.append(name)
            print(name, reason, sep='\t', file=report)
    for name in unloadable:
        replace(name)
    for name in others if unloadable else []:
        try:
            importlib.import_module(name)
        except Exception as reason:
            replace(name)
            print(name, f'is built on one that is replaced: {one_line(reason)}', sep='\t',
                  file=report)


def one_line(text):
    return ' '.join(str(text).split())


class VerdictResult(unittest.TextTestResult):
    """Writes the verdicts as they come, so that those before a crash are kept."""
    verdicts = None
    progress = None

    def startTest(self, test):
        super().startTest(test)
        if self.progress and self.testsRun % 50 == 0:
            print(f'upstream: test {self.testsRun}: {test.id()}', file=self.progress, flush=True)
        # Upstream draws the attributes of what it creates at random, and not each is supported
        # everywhere: the same draw for a test in every run.
        random.seed(test.id())
        self.started = time.monotonic()
        self.written = False

    def write(self, test, verdict, reason=''):
        # A test of several parts that failed has its verdict from the first that did.
        if not getattr(self, 'written', False):
            print(test.id(), verdict, one_line(reason), sep='\t', file=self.verdicts, flush=True)
        self.written = True

    def stopTest(self, test):
        self.stream.writeln(f'# {test.id()}: {time.monotonic() - self.started:.1f} s')
        super().stopTest(test)
        self.written = False

    def addSuccess(self, test):
        super().addSuccess(test)
        self.write(test, 'ok')

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.write(test, 'skip', reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.write(test, 'FAIL')

    def addError(self, test, err):
        super().addError(test, err)
        self.write(test, 'ERROR')

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.write(test, 'FAIL' if issubclass(err[0], test.failureException) else 'ERROR')


def main():
    folder, results = os.path.abspath(sys.argv[1]), sys.argv[2]
    del sys.argv[1:3]
    # Upstream's files call one another both `tests.base` and plain `args_parser`.
    sys.path[0:1] = [os.path.dirname(folder), folder]

    if 'PROGRESS_FD' in os.environ:
        VerdictResult.progress = os.fdopen(int(os.environ['PROGRESS_FD']), 'w')
        os.set_inheritable(VerdictResult.progress.fileno(), False)
    with open(results + '.replaced', 'w') as report:
        replace_unloadable_provider_modules(report)
    from args_parser import parser
    parser.parse_args()
    tests = importlib.import_module('tests')
    with open(results + '.verdicts', 'w') as VerdictResult.verdicts:
        unittest.main(module=tests, exit=False,
                      testRunner=unittest.TextTestRunner(resultclass=VerdictResult, verbosity=2))


if __name__ == '__main__':
    main()
