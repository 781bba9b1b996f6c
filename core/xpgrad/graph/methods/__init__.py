"""Methods of Variable that do not differentiate: conversion, copies, text and moves between devices."""
